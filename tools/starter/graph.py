"""A word-loop decoding graph for CTC: ``graph.py bpe.model words.txt vocab.fst``.

A trie of the words' token spellings, closed to a loop. Input labels are token ids plus one, because 0 is epsilon;
the blank is therefore 1. Each trie node has two states, "token just heard" (which repeats the token) and "blank since
then"; a token that follows itself must come from the blank state. Every word end is final: the recogniser shows
text only where a path may end.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import kaldifst
import sentencepiece

BLANK = 1


@dataclass(slots=True)
class Node:
    """A place in the trie: the token that leads here, and the two states it owns."""

    token: int
    heard: int
    blank: int
    is_word: bool = False
    children: dict[int, Node] = field(default_factory=dict)


def build_graph(spellings: list[list[int]]) -> kaldifst.StdVectorFst:
    """The word loop over ``spellings`` (token ids of each word)."""
    graph = kaldifst.StdVectorFst()
    start = graph.add_state()
    graph.start = start
    root = Node(token=-1, heard=start, blank=start)
    nodes: list[Node] = []
    for spelling in spellings:
        node = root
        for token in spelling:
            if token not in node.children:
                node.children[token] = Node(token, graph.add_state(), graph.add_state())
                nodes.append(node.children[token])
            node = node.children[token]
        node.is_word = True
    _arc(graph, start, BLANK, start)
    graph.set_final(start, 0.0)
    _connect(graph, root, root.children.values())
    for node in nodes:
        _arc(graph, node.heard, node.token + 1, node.heard)
        _arc(graph, node.heard, BLANK, node.blank)
        _arc(graph, node.blank, BLANK, node.blank)
        _connect(graph, node, node.children.values())
        if node.is_word:
            _connect(graph, node, root.children.values())
            graph.set_final(node.heard, 0.0)
            graph.set_final(node.blank, 0.0)
    return graph


def _connect(graph: kaldifst.StdVectorFst, node: Node, followers: Iterable[Node]) -> None:
    for follower in followers:
        if follower.token != node.token:
            _arc(graph, node.heard, follower.token + 1, follower.heard)
        if node.blank != node.heard:
            _arc(graph, node.blank, follower.token + 1, follower.heard)


def _arc(graph: kaldifst.StdVectorFst, source: int, label: int, target: int) -> None:
    # No output label: sherpa-onnx takes the text from the input tokens of the path.
    graph.add_arc(source, kaldifst.StdArc(label, 0, 0.0, target))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spelling", type=Path, help="bpe.model")
    parser.add_argument("words", type=Path, help="one word a line")
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(args.spelling))
    words = args.words.read_text(encoding="utf-8").split()
    build_graph([pieces.encode(word) for word in words]).write(str(args.out))


if __name__ == "__main__":
    main()
