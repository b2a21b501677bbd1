# What every target shares: warnings, sanitizers, and the outside libraries under short names.

add_library(berth_options INTERFACE)
target_include_directories(berth_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
target_compile_options(berth_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wimplicit-fallthrough)
if(BERTH_WERROR)
  # g++ 12 finds this in its own <regex> and StatusOr under the sanitizers; it stays a warning.
  target_compile_options(berth_options INTERFACE -Werror
    $<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized>)
endif()
if(BERTH_SANITIZE_ADDRESS)
  target_compile_options(berth_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
    # They double the time to compile, and what they find ASan stops at too, or x86 and ARM do not
    # mind.
    -fno-sanitize=null,alignment,object-size,vptr)
  target_link_options(berth_options INTERFACE -fsanitize=address,undefined)
endif()
if(BERTH_SANITIZE_THREAD)
  target_compile_options(berth_options INTERFACE -fsanitize=thread)
  target_link_options(berth_options INTERFACE -fsanitize=thread)
endif()
if(BERTH_FUZZ)
  # Coverage for libFuzzer, without its main: that is linked by the targets of tests/fuzz alone.
  # RapidJSON adds to null pointers, which clang's sanitizer counts and g++'s does not.
  target_compile_options(berth_options INTERFACE -fsanitize=fuzzer-no-link
                         -fno-sanitize=pointer-overflow)
endif()

add_library(berth_json INTERFACE)
target_compile_definitions(berth_json INTERFACE RAPIDJSON_HAS_STDSTRING=1)
add_library(berth::json ALIAS berth_json)

add_library(berth_net INTERFACE)
target_link_libraries(berth_net INTERFACE Threads::Threads Boost::url)
target_compile_definitions(berth_net INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_ARRAY)
# g++ 12 takes the frames that asio's coroutines recycle for a mistake, depending on what it inlines.
target_compile_options(berth_net INTERFACE -Wno-mismatched-new-delete)
add_library(berth::net ALIAS berth_net)

add_library(berth_log INTERFACE)
target_link_libraries(berth_log INTERFACE spdlog::spdlog)
add_library(berth::log ALIAS berth_log)

# berth_library(NAME DEPS...): the folder NAME as the target berth::NAME, made of every .cc in it.
function(berth_library name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cc)
  if(sources)
    add_library(berth_${name} STATIC ${sources})
    target_link_libraries(berth_${name} PUBLIC berth_options ${ARG_DEPS})
  else()
    add_library(berth_${name} INTERFACE)
    target_link_libraries(berth_${name} INTERFACE berth_options ${ARG_DEPS})
  endif()
  add_library(berth::${name} ALIAS berth_${name})
endfunction()

# berth_test(FOLDER): tests/FOLDER/*.cc as one binary that links the target FOLDER alone, so that a
# call upwards does not link. tests/support/ is for all.
function(berth_test folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*.cc)
  if(NOT sources)
    return()
  endif()
  set(source_dir ${CMAKE_SOURCE_DIR}/tests/support/source_dir.cc)
  # On this file alone: any other would be compiled anew in each clone, ccache or not.
  set_source_files_properties(${source_dir} PROPERTIES
    COMPILE_DEFINITIONS BERTH_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_executable(${folder}_test ${sources} ${source_dir})
  target_link_libraries(${folder}_test PRIVATE berth::${folder} Catch2::Catch2WithMain)
  add_test(NAME ${folder} COMMAND ${folder}_test)
endfunction()
