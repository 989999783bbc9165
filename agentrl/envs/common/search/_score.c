/* The search engine's inner loop: the scores of all documents that share a term with a query, and the k best.
 *
 * Plain C without Python's headers, called through ctypes (see kernel.py, which also holds the numpy version; the tests
 * hold the two against each other). Has to be compiled with -ffp-contract=off: a fused multiply-add rounds once where
 * numpy rounds twice.
 *
 * Documents are taken in windows whose scores fit the second-level cache; within a window, term by term.
 */
#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define API __declspec(dllexport)
#else
#define API __attribute__((visibility("default")))
#endif

/* Setuptools insists on this symbol when it links on Windows; nobody imports the file as a module. */
API void *PyInit__score(void) { return 0; }

enum { WINDOW = 1 << 14, GROUP = 16 };
static const double DECIMALS = 10000.0;

struct heap {
    int64_t size, k;
    int64_t *document, *key;
};

/* Does entry a leave before entry b? The lowest score first; of equal ones the later document. */
static int is_worse(const struct heap *h, int64_t a, int64_t b)
{
    return h->key[a] != h->key[b] ? h->key[a] < h->key[b] : h->document[a] > h->document[b];
}

static void swap(struct heap *h, int64_t a, int64_t b)
{
    int64_t document = h->document[a], key = h->key[a];
    h->document[a] = h->document[b];
    h->key[a] = h->key[b];
    h->document[b] = document;
    h->key[b] = key;
}

static void rise(struct heap *h, int64_t at)
{
    for (; at > 0 && is_worse(h, at, (at - 1) / 2); at = (at - 1) / 2) swap(h, at, (at - 1) / 2);
}

static void sink(struct heap *h, int64_t at)
{
    for (;;) {
        int64_t worst = at, left = 2 * at + 1, right = left + 1;
        if (left < h->size && is_worse(h, left, worst)) worst = left;
        if (right < h->size && is_worse(h, right, worst)) worst = right;
        if (worst == at) return;
        swap(h, at, worst);
        at = worst;
    }
}

/* Documents come in ascending order, so one that only equals the worst of a full heap stays out. */
static void offer(struct heap *h, int64_t document, int64_t key)
{
    if (h->size < h->k) {
        h->document[h->size] = document;
        h->key[h->size] = key;
        rise(h, h->size++);
    } else if (key > h->key[0]) {
        h->document[0] = document;
        h->key[0] = key;
        sink(h, 0);
    }
}

static double large_saturation(int64_t place, int64_t size, const int64_t *at, const uint32_t *counts, double norm)
{
    int64_t low = 0, high = size - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (at[middle] < place) low = middle + 1;
        else high = middle;
    }
    double count = counts[low];
    return count / (count + norm);
}

/* A score below this cannot enter the heap: a quick test that stops nothing which the exact one would let in. */
static double bar_of(const struct heap *h)
{
    return h->size == h->k ? (double)(h->key[0] + 1) / DECIMALS * (1 - 1e-12) : DBL_MIN;
}

/* Few scores pass the bar; whole groups are tested without a branch for each. `scores` has GROUP zeros at its end. */
static void collect(struct heap *h, const double *scores, int64_t base, int64_t size)
{
    double bar = bar_of(h);
    for (int64_t group = 0; group < size; group += GROUP) {
        int passes = 0;
        for (int i = 0; i < GROUP; i++) passes |= scores[group + i] >= bar;
        if (!passes) continue;
        for (int i = 0; i < GROUP; i++) {
            if (scores[group + i] < bar) continue;
            offer(h, base + group + i, (int64_t)(scores[group + i] * DECIMALS));
            bar = bar_of(h);
        }
    }
}

/* How many were found, at most k, in no particular order; -1 if there is no memory. `places` holds pairs: where the
 * postings of a term start and end. It is used up. */
API int64_t best(int64_t terms, int64_t large, int64_t total, int64_t k, int64_t *places, const double *weights,
                 const uint32_t *documents, const uint8_t *counts, const int64_t *large_at,
                 const uint32_t *large_counts, const uint8_t *lengths, const double *norms, const double *saturation,
                 int64_t *best_document, int64_t *best_key)
{
    struct heap heap = {0, k, best_document, best_key};
    double *scores = malloc((WINDOW + GROUP) * sizeof *scores);
    if (!scores) return -1;
    for (int64_t base = 0; base < total; base += WINDOW) {
        int64_t size = total - base < WINDOW ? total - base : WINDOW;
        uint32_t limit = (uint32_t)(base + size - 1);
        memset(scores, 0, (size_t)(size + GROUP) * sizeof *scores);
        for (int64_t t = 0; t < terms; t++) {
            int64_t place = places[2 * t], stop = places[2 * t + 1];
            double weight = weights[t];
            for (; place < stop && documents[place] <= limit; place++) {
                uint32_t document = documents[place];
                uint8_t count = counts[place], length = lengths[document];
                double part = count ? saturation[count * 256 + length]
                                    : large_saturation(place, large, large_at, large_counts, norms[length]);
                scores[document - base] += weight * part;
            }
            places[2 * t] = place;
        }
        collect(&heap, scores, base, size);
    }
    free(scores);
    return heap.size;
}
