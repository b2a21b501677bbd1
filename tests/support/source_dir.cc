#include "tests/support/source_dir.h"

namespace berth::testing {

std::filesystem::path SourceDir() { return BERTH_SOURCE_DIR; }

}  // namespace berth::testing
