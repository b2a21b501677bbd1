// How UpdateCluster and UpdateClusterSettings change what is kept of a cluster.
#pragma once

#include "api/call.h"

namespace berth::api {

// Puts the members that the call has in place of those of the cluster that it names, and answers
// with the cluster. When somebody else changes the cluster meanwhile it begins anew, so that no
// change is lost; after a few such races the answer is Unavailable.
net::awaitable<Answer> AnswerClusterUpdate(Call call);

}  // namespace berth::api
