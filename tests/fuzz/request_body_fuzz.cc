// A request's body against the shape of every action. The first two bytes choose the action. What
// is accepted has to come out as JSON that is accepted again, and stays the same then.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "api/aws_json.h"
#include "api/schema/schema.h"

namespace schema = berth::api::schema;
using berth::api::JsonBody;
using berth::api::ToCanonicalJson;
using berth::api::ToJson;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const auto operations = schema::Operations();
  const schema::Shape& shape =
      schema::InputOf(operations[(data[0] * 256u + data[1]) % operations.size()]);
  const auto body =
      JsonBody::Parse(std::string(reinterpret_cast<const char*>(data + 2), size - 2), shape);
  if (!body.ok()) return 0;

  const std::string text = ToJson(body->root());
  const auto again = JsonBody::Parse(text, shape);
  if (!again.ok() || ToJson(again->root()) != text) std::abort();
  (void)ToCanonicalJson(body->root(), {"clientToken"});
  return 0;
}
