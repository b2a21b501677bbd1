// Whether a JSON text is what the API model says of an answer: every member known, every value of
// its type, every word of its list. SDKs drop what does not fit without a word, so nobody else
// would say.
#pragma once

#include <string>

#include <rapidjson/document.h>

#include "api/dispatch.h"
#include "api/schema/schema.h"

namespace berth::api {

// Empty, or the first thing that does not fit.
std::string FindMisfit(const rapidjson::Value& value, const schema::Shape& shape,
                       const std::string& path = "");

// Fails the test when the response to the action could not be read by every SDK.
void CheckWellFormed(const std::string& action, const ApiResponse& response);

std::string JsonText(const rapidjson::Value& value);

}  // namespace berth::api
