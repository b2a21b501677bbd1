// First outputs of Go's math/rand, and draws made of them.
#include "simulator/go_random.h"

#include <vector>

#include <catch2/catch.hpp>

namespace berth::simulator {

// rand.New(rand.NewSource(42)).Uint64() and so on, from published outputs of Go.
TEST_CASE("the stream is Go's", "[go_random]") {
  struct Case {
    int64_t seed;
    std::vector<uint64_t> first;
  };
  const auto c = GENERATE(values<Case>({
      {42,
       {12663951391086054483ULL, 9832119173398632219ULL, 5571782338101878760ULL,
        1926012586526624009ULL}},
      {43,
       {9474885800832588073ULL, 4758643001895455243ULL, 13677915204102650273ULL,
        12525728150299722630ULL}},
      {44,
       {5413015802706811526ULL, 17552675044073891131ULL, 17246801393951720405ULL,
        9571720985685471747ULL}},
      {45,
       {1286953267001023460ULL, 11335071309117022043ULL, 4679628697596910861ULL,
        6476255028888543361ULL}},
      {46,
       {15445287797849953465ULL, 15193721772381524588ULL, 10733695356044920645ULL,
        17082497550790073934ULL}},
      {47,
       {11355164538415307159ULL, 10120112345791114635ULL, 16609333920852299882ULL,
        14136661968708570188ULL}},
      {48,
       {16466320952285782900ULL, 4396436951198056635ULL, 1711649650711702178ULL,
        10891635922430064457ULL}},
      {49,
       {3191372560272332874ULL, 16612367769982500052ULL, 9767175432040371290ULL,
        7943812528830866758ULL}},
      {50,
       {7980955223660909863ULL, 11240063900187987979ULL, 13351830267585146258ULL,
        103600011371176804ULL}},
      {51,
       {13116894095188481661ULL, 15388217975463668540ULL, 3083795589842122694ULL,
        15584062121302315361ULL}},
  }));
  GoRandom random(c.seed);

  for (const uint64_t expected : c.first) CHECK(random.Next() == expected);
}

TEST_CASE("the stream is Go's beyond the first round of its state", "[go_random]") {
  GoRandom random(42);
  std::vector<uint64_t> outputs;
  for (int i = 0; i < 2000; ++i) outputs.push_back(random.Next());

  for (size_t n = 607; n < outputs.size(); ++n) {
    REQUIRE(outputs[n] == outputs[n - 607] + outputs[n - 273]);
  }
}

TEST_CASE("seeds that are equal modulo 2^31 - 1 give one stream, and 0 one of its own",
          "[go_random]") {
  CHECK(GoRandom(2147483647).Next() == GoRandom(0).Next());
  CHECK(GoRandom(1).Next() == GoRandom(2147483648).Next());
  CHECK(GoRandom(-1).Next() == GoRandom(2147483646).Next());
  CHECK(GoRandom(0).Next() != GoRandom(1).Next());
}

TEST_CASE("draws below a bound stay below it, and reach all of it", "[go_random]") {
  const int64_t bound = GENERATE(1, 2, 3, 7, 64, 1000);
  GoRandom random(7);
  std::vector<bool> plain(bound);
  std::vector<bool> shuffle(bound);
  for (int64_t i = 0; i < 20 * bound; ++i) {
    plain.at(random.Intn(bound)) = true;
    shuffle.at(random.IntnForShuffle(bound)) = true;
  }

  CHECK(std::vector<bool>(bound, true) == plain);
  CHECK(std::vector<bool>(bound, true) == shuffle);
}

}  // namespace berth::simulator
