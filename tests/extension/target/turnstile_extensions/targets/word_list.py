"""An export target: the texts of a finite grammar, one on each line."""

from engine.compile import compile_grammar
from engine.export.target import Artifact, Check, MismatchError, TargetGroup


class WordList:
    name = "word-list"
    title = "List of words"
    about = "All texts of a finite grammar."
    group = TargetGroup.TEXT
    suffix = ".txt"
    is_folder = False
    needs_vocabulary = False

    def supported_options(self, compiled):
        return frozenset()

    def refusal(self, job):
        return "" if set(job.compiled.source.text).isdisjoint("*+{[(.\\") else "its texts are not listed by |"

    def make(self, job):
        words = job.compiled.source.text.split("|")
        return Artifact((("words.txt", "".join(f"{word}\n" for word in words).encode()),))

    def check(self, artifact, job):
        words = artifact.content.decode().splitlines()
        listed = compile_grammar("regex", "|".join(words))
        for word in words:
            if not (job.compiled.fullmatch(word) and listed.fullmatch(word)):
                raise MismatchError("errors.word_list.other_text", word=word)
        return Check("the words of the file and of the grammar", len(words), sum(map(len, words)))


TARGET = WordList()
