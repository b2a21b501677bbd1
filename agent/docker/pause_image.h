// An image that holds one program which does nothing, for ever. Its container owns the network of
// an awsvpc task, so that the task's containers share a localhost in whatever order they come and
// go.
//
// The image is made here and imported into Docker, so that no registry is needed: the program is a
// dozen instructions, written out below with their meaning.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::agent {

inline constexpr char kPauseRepository[] = "berth-pause";
inline constexpr char kPauseTag[] = "1";

// A tar archive with the one file /pause. `architecture` as Docker names it: "x86_64", "aarch64".
// Nothing for other ones.
std::optional<std::string> PauseImageTar(std::string_view architecture);

}  // namespace berth::agent
