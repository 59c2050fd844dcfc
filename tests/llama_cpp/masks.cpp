// The masks of llama.cpp's own grammars, over a vocabulary that is handed in: what its sampler would allow.
//
// Linked with three files of llama.cpp (`src/llama-grammar.cpp`, `src/unicode.cpp`, `src/unicode-data.cpp`) and no
// model: what a grammar asks of a vocabulary is answered here, out of a table.

#include "llama-grammar.h"
#include "llama-vocab.h"
#include "llama.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static std::vector<std::string> pieces;
static llama_token end_of_generation = -1;
static std::string said;

void llama_log_internal(ggml_log_level, const char * format, ...) {
    char line[2000];
    va_list rest;
    va_start(rest, format);
    vsnprintf(line, sizeof line, format, rest);
    va_end(rest);
    said += line;
}

extern "C" void ggml_abort(const char * file, int line, const char * message, ...) {
    fprintf(stderr, "%s:%d: %s\n", file, line, message);
    abort();
}

const std::string & llama_vocab::token_to_piece(llama_token token) const { return pieces[token]; }
bool llama_vocab::is_eog(llama_token token) const { return token == end_of_generation; }
int32_t llama_vocab::tokenize(const char *, int32_t, llama_token *, int32_t, bool, bool) const { return 0; }

static const llama_vocab * vocabulary() { // its members above look at nothing in it
    static char room[1 << 16];
    return reinterpret_cast<const llama_vocab *>(room);
}

extern "C" {
void set_vocabulary(const char * const * tokens, const int * lengths, int count, int end) {
    pieces.clear();
    for (int i = 0; i < count; i++) {
        pieces.emplace_back(tokens[i], lengths[i]);
    }
    end_of_generation = end;
}

const char * last_message() { return said.c_str(); }

void * open_grammar(const char * text) {
    said.clear();
    try {
        return llama_grammar_init_impl(vocabulary(), text, "root", false, nullptr, 0, nullptr, 0);
    } catch (const std::exception & error) {
        said += error.what();
        return nullptr;
    }
}

void close_grammar(void * grammar) { llama_grammar_free_impl(static_cast<llama_grammar *>(grammar)); }

// allowed: one byte for each token. 0 where it failed.
int fill_mask(void * grammar, unsigned char * allowed) {
    std::vector<llama_token_data> data;
    for (size_t i = 0; i < pieces.size(); i++) {
        data.push_back({static_cast<llama_token>(i), 0.0f, 0.0f});
    }
    llama_token_data_array candidates{data.data(), data.size(), -1, false};
    try {
        llama_grammar_apply_impl(*static_cast<llama_grammar *>(grammar), &candidates);
    } catch (const std::exception & error) {
        said += error.what();
        return 0;
    }
    for (size_t i = 0; i < data.size(); i++) {
        allowed[i] = !std::isinf(data[i].logit);
    }
    return 1;
}

int accept(void * grammar, int token) {
    try {
        llama_grammar_accept_impl(*static_cast<llama_grammar *>(grammar), token);
        return 1;
    } catch (const std::exception & error) {
        said += error.what();
        return 0;
    }
}
}
