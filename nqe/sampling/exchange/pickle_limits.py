"""Measures what a pickle would build, without building it, and refuses what would grow too large.

A few bytes can ask for any amount of memory and time: containers that hold each other many times
over, copies of copies, tuples so deep that hashing them overflows the stack, texts of 2^60 bytes.
So the opcodes are followed here with sizes in place of values.
"""

from __future__ import annotations

import pickletools
import re
from collections.abc import Callable
from typing import Any

# How deep containers may be nested.
DEEPEST = 100
# How many values a pickle may repeat or copy: this many, and this many for each of its bytes.
FREE_GROWTH, GROWTH_PER_BYTE = 10_000_000, 8

NESTED = f"containers are nested more than {DEEPEST} deep"
Handler = Callable[[int], int]
"""Follows an opcode: takes the position of its argument, and returns that of the next opcode."""
Skip = Callable[[int], int]
"""Takes the position of an argument, and returns where it ends."""


class TooLarge(Exception):
    """A pickle would build more than the limits allow."""


class Incomplete(Exception):
    """A pickle ends too early, or an opcode lacks what it works on."""


class Size:
    """How many values a value holds, shared ones each time they occur, and how deep it is."""

    __slots__ = ("count", "depth", "fillable")

    def __init__(self, count: int, depth: int, fillable: bool) -> None:
        self.count, self.depth, self.fillable = count, depth, fillable

    def fill(self, count: int, depth: int) -> None:
        """Add the count and the depth of what is put into it."""
        if not self.fillable:
            raise TooLarge("a container is filled after it was used, perhaps with itself")
        self.count += count
        self.depth = max(self.depth, depth + 1)
        if self.depth > DEEPEST:
            raise TooLarge(NESTED)


ATOM = Size(1, 0, False)
# Opcodes that put values into a container, with the number of values; None if from a mark.
FILLING: dict[str, int | None] = {"APPEND": 1, "SETITEM": 2, "BUILD": 1}
FILLING |= dict.fromkeys(("APPENDS", "SETITEMS", "ADDITEMS"))
NUMBER_BYTES = {"BININT1": 1, "BININT2": 2, "BININT": 4}
TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
EMPTY = {"EMPTY_LIST", "EMPTY_DICT", "EMPTY_SET"}
CALLS = {"REDUCE", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX"}
# A mark, numbers, and the opcode that puts them into a set or a list: most of a file.
NUMBERS = re.compile(rb"(?:K.|M..|J....)*+[\x90e]", re.DOTALL)
# How many bytes the length of an argument has, by what pickletools has in place of its size.
LENGTH_BYTES = {
    pickletools.TAKEN_FROM_ARGUMENT1: 1,
    pickletools.TAKEN_FROM_ARGUMENT4: 4,
    pickletools.TAKEN_FROM_ARGUMENT4U: 4,
    pickletools.TAKEN_FROM_ARGUMENT8U: 8,
}


def check_growth(content: bytes) -> None:
    """Refuse a pickle that is incomplete or would build too much."""
    try:
        _Machine(content).run()
    except (IndexError, KeyError, ValueError) as error:
        raise Incomplete("an opcode lacks its argument or what it works on") from error


class _Machine:
    """Follows the opcodes of a pickle with sizes in place of values."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._stack: list[Size] = []
        self._below: list[list[Size]] = []  # the stacks below the marks
        self._memo: list[Size | None] = []  # by number; None for numbers that are not in use
        self._memo_count = 0
        self._tuples: dict[tuple[int, int], Size] = {}  # few sizes, which millions of tuples have
        self._growth_left = FREE_GROWTH + GROWTH_PER_BYTE * len(content)
        self._longest = 0  # of the arguments so far
        self._handlers = {ord(code.code): self._make_handler(code) for code in pickletools.opcodes}

    def run(self) -> None:
        """Follow the opcodes to the end of the pickle."""
        content, handlers, position = self._content, self._handlers, 0
        while position >= 0:
            position = handlers[content[position]](position + 1)

    def _make_handler(self, opcode: Any) -> Handler:
        special: Handler | None = getattr(self, f"_do_{opcode.name.lower()}", None)
        if special:
            return special
        skip = self._make_skip(opcode.arg)
        if opcode.name in TUPLES:
            return self._make_tuple(TUPLES[opcode.name])
        if opcode.name in FILLING:
            return self._make_filling(FILLING[opcode.name])
        if opcode.name in NUMBER_BYTES:
            return self._make_number(NUMBER_BYTES[opcode.name])
        if opcode.stack_before or opcode.name in EMPTY | CALLS:
            return self._make_container(opcode, skip)
        return self._make_atom(skip) if opcode.stack_after else skip

    def _make_number(self, size: int) -> Handler:
        """What an atom does, but quicker, as nearly all of them are small numbers."""

        def push(position: int) -> int:
            self._stack.append(ATOM)
            return position + size

        return push

    def _make_tuple(self, operands: int) -> Handler:
        """What a container of few values does, but quicker, as nearly all of them are tuples."""

        def build(position: int) -> int:
            count, depth = self._pop(operands)
            if depth >= DEEPEST:
                raise TooLarge(NESTED)
            key = (count + 1, depth + 1)
            size = self._tuples.get(key)
            if size is None:
                size = self._tuples[key] = Size(*key, fillable=False)
            self._stack.append(size)
            return position

        return build

    def _make_skip(self, argument: Any) -> Skip:
        """What finds the end of an argument."""
        if argument is None:
            return lambda position: position
        size: int = argument.n
        if size >= 0:
            return lambda position: position + size
        if size == pickletools.UP_TO_NEWLINE:
            return self._skip_lines if "pair" not in argument.name else self._skip_two_lines
        return lambda position: self._skip_counted(position, LENGTH_BYTES[size])

    def _skip_lines(self, position: int) -> int:
        end = self._content.index(b"\n", position) + 1
        self._longest = max(self._longest, end - position)
        return end

    def _skip_two_lines(self, position: int) -> int:
        return self._skip_lines(self._skip_lines(position))

    def _skip_counted(self, position: int, length_bytes: int) -> int:
        start = position + length_bytes
        length = int.from_bytes(self._content[position:start], "little")
        if start + length > len(self._content):
            raise Incomplete(f"a value of {length:,} bytes does not fit into the file")
        self._longest = max(self._longest, length)
        return start + length

    def _make_atom(self, skip: Skip) -> Handler:
        def push(position: int) -> int:
            self._stack.append(ATOM)
            return skip(position)

        return push

    def _make_container(self, opcode: Any, skip: Skip) -> Handler:
        """What replaces the operands of an opcode by a value that holds them."""
        marked = pickletools.markobject in opcode.stack_before
        operands = None if marked else len(opcode.stack_before)
        is_call = opcode.name in CALLS

        def build(position: int) -> int:
            count, depth = self._pop(operands)
            size = Size(1, 0, True)
            size.fill(count, depth)
            if is_call:  # which may copy its argument, or list the characters of a text
                self._grow(count + self._longest)
            self._stack.append(size)
            return skip(position)

        return build

    def _make_filling(self, operands: int | None) -> Handler:
        def fill(position: int) -> int:
            count, depth = self._pop(operands)
            self._stack[-1].fill(count, depth)
            return position

        return fill

    def _pop(self, operands: int | None) -> tuple[int, int]:
        """Pop that many values, or all from the last mark; return their count and depth."""
        stack = self._stack
        if operands == 1:
            value = stack.pop()
            return value.count, value.depth
        if operands == 2:
            last, first = stack.pop(), stack.pop()
            depth = first.depth if first.depth > last.depth else last.depth
            return first.count + last.count, depth
        if operands is None:
            values, self._stack = stack, self._below.pop()
        else:
            values = [stack.pop() for _ in range(operands)]
        return sum([v.count for v in values]), max([v.depth for v in values], default=0)

    def _grow(self, count: int) -> None:
        self._growth_left -= count
        if self._growth_left < 0:
            raise TooLarge("its values are repeated too often")

    def _do_mark(self, position: int) -> int:
        numbers = NUMBERS.match(self._content, position)
        if numbers is not None:
            end = numbers.end()
            self._stack[-1].fill((end - position) // 2, 0)
            return end
        self._below.append(self._stack)
        self._stack = []
        return position

    def _do_pop(self, position: int) -> int:
        # Without a value above it, a mark is removed.
        if self._stack:
            self._stack.pop()
        else:
            self._stack = self._below.pop()
        return position

    def _do_pop_mark(self, position: int) -> int:
        self._stack = self._below.pop()
        return position

    def _do_dup(self, position: int) -> int:
        self._push_again(self._stack[-1])
        return position

    def _push_again(self, size: Size | None) -> None:
        if size is None:
            raise IndexError
        size.fillable = False
        self._grow(size.count)
        self._stack.append(size)

    def _do_get(self, position: int) -> int:
        end = self._content.index(b"\n", position)
        self._push_again(self._memo[int(self._content[position:end])])
        return end + 1

    def _do_binget(self, position: int) -> int:
        self._push_again(self._memo[self._content[position]])
        return position + 1

    def _do_long_binget(self, position: int) -> int:
        self._push_again(self._memo[self._read_number(position)])
        return position + 4

    def _do_put(self, position: int) -> int:
        end = self._content.index(b"\n", position)
        self._memoize(int(self._content[position:end]))
        return end + 1

    def _do_binput(self, position: int) -> int:
        self._memoize(self._content[position])
        return position + 1

    def _do_long_binput(self, position: int) -> int:
        self._memoize(self._read_number(position))
        return position + 4

    def _read_number(self, position: int) -> int:
        return int.from_bytes(self._content[position : position + 4], "little")

    def _memoize(self, number: int) -> None:
        # The unpickler's memo, as this one, is an array with room for the largest number.
        if not 0 <= number < len(self._content):
            raise TooLarge("it gives a value a higher number than it has bytes")
        memo = self._memo
        if number >= len(memo):
            memo.extend([None] * (number + 1 - len(memo)))
        self._memo_count += memo[number] is None
        memo[number] = self._stack[-1]

    def _do_memoize(self, position: int) -> int:
        if self._memo_count == len(self._memo):
            self._memo.append(self._stack[-1])
            self._memo_count += 1
        else:
            self._memoize(self._memo_count)
        return position

    def _do_stop(self, position: int) -> int:
        return -position  # negative, which ends the run
