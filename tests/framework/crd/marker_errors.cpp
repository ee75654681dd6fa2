// Mistakes in markers. marker_errors.cmake compiles each with -DMISTAKE=number and compares the
// first line with an error. Without MISTAKE, the file compiles.
#include <map>
#include <string>
#include <vector>

#include <kopp/informer/object.hpp>
#include <kopp/markers.hpp>

#ifndef MISTAKE
#define MISTAKE 0
#endif

struct Item {
  std::string name;
};
KOPP_FIELDS(Item, name)

struct Foo {
  static constexpr kopp::Kind kKind{"example.com/v1", "Foo", "foos"};
  kopp::ObjectMeta metadata;
  std::string text;
  int number = 0;
  std::vector<std::string> list;
  Item item;
};

#if MISTAKE == 1
KOPP_FIELDS(Foo, metadata, KOPP_FIELD(text, Minimum(1)), number, list, item)
#elif MISTAKE == 2
KOPP_FIELDS(Foo, metadata, text, KOPP_FIELD(number, MaxLength(63)), list, item)
#elif MISTAKE == 3
KOPP_FIELDS(Foo, metadata, KOPP_FIELD(text, MaxItems(3)), number, list, item)
#elif MISTAKE == 4
KOPP_FIELDS(Foo, metadata, text, number, KOPP_FIELD(list, UniqueItems()), item)
#elif MISTAKE == 5
KOPP_FIELDS(Foo, metadata, text, KOPP_FIELD(number, Default("3")), list, item)
#elif MISTAKE == 6
KOPP_FIELDS(Foo, metadata, text, KOPP_FIELD(number, Enum("a", "b")), list, item)
#elif MISTAKE == 7
KOPP_FIELDS(Foo, metadata, text, number, KOPP_FIELD(list, ListMapKeys("name")), item)
#elif MISTAKE == 8
KOPP_FIELDS(Foo, metadata, text, number, KOPP_FIELD(list, Items(Minimum(1))), item)
#elif MISTAKE == 9
KOPP_FIELDS(Foo, metadata, KOPP_FIELD(text, IntOrString()), number, list, item)
#elif MISTAKE == 10
KOPP_FIELDS(Foo, metadata, KOPP_FIELD(text, Items(MaxLength(3))), number, list, item)
#elif MISTAKE == 11
KOPP_FIELDS(Foo, metadata, text, number, KOPP_FIELD(list, MaxProperties(3)), item)
#else
KOPP_FIELDS(Foo, metadata, KOPP_FIELD(text, MaxLength(63), Default("a")),
            KOPP_FIELD(number, Minimum(1), Maximum(MISTAKE == 12 ? 0 : 9)),
            KOPP_FIELD(list, ListType("set"), Items(MinLength(1))), item)
#endif

#if MISTAKE == 13
KOPP_CRD(Foo, StatusSubresource())
#elif MISTAKE == 14
KOPP_CRD(Foo, Minimum(1))
#elif MISTAKE == 15
KOPP_CRD(Item, ShortNames("it"))
#elif MISTAKE == 16
KOPP_CRD(Foo, PrintColumn("Number", "int", ".number"))
#elif MISTAKE == 17
KOPP_CRD(Foo, SelectableField("text"))
#else
KOPP_CRD(Foo, ShortNames("fo"))
#endif

int main() {}
