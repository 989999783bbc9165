/* The search engine's inner loop: the scores of all documents that share a term with a query, and the k best.
 *
 * Plain C without Python's headers, called through ctypes (see kernel.py, which also holds the numpy version; the tests
 * hold the two against each other). Has to be compiled with -ffp-contract=off: a fused multiply-add rounds once where
 * numpy and Lucene round twice.
 *
 * Documents are taken in windows whose scores fit the second-level cache; within a window, term by term.
 */
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

struct heap {
    int64_t size, k;
    int64_t *document;
    float *score;
};

/* Does entry a leave before entry b? The lowest score first; of equal ones the later document. */
static int is_worse(const struct heap *h, int64_t a, int64_t b)
{
    return h->score[a] != h->score[b] ? h->score[a] < h->score[b] : h->document[a] > h->document[b];
}

static void swap(struct heap *h, int64_t a, int64_t b)
{
    int64_t document = h->document[a];
    float score = h->score[a];
    h->document[a] = h->document[b];
    h->score[a] = h->score[b];
    h->document[b] = document;
    h->score[b] = score;
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
static void offer(struct heap *h, int64_t document, float score)
{
    if (h->size < h->k) {
        h->document[h->size] = document;
        h->score[h->size] = score;
        rise(h, h->size++);
    } else if (score > h->score[0]) {
        h->document[0] = document;
        h->score[0] = score;
        sink(h, 0);
    }
}

static float large_count(int64_t place, int64_t size, const int64_t *at, const uint32_t *counts)
{
    int64_t low = 0, high = size - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (at[middle] < place) low = middle + 1;
        else high = middle;
    }
    return (float)counts[low];
}

/* What a score has to be above to enter the heap. */
static float bar_of(const struct heap *h)
{
    return h->size == h->k ? h->score[0] : 0;
}

/* Few scores pass the bar; whole groups are tested without a branch for each. `scores` has GROUP zeros at its end. */
static void collect(struct heap *h, const double *scores, int64_t base, int64_t size)
{
    float bar = bar_of(h);
    for (int64_t group = 0; group < size; group += GROUP) {
        int passes = 0;
        for (int i = 0; i < GROUP; i++) passes |= scores[group + i] > bar;
        if (!passes) continue;
        for (int i = 0; i < GROUP; i++) {
            float score = (float)scores[group + i];
            if (score <= bar) continue;
            offer(h, base + group + i, score);
            bar = bar_of(h);
        }
    }
}

/* How many were found, at most k, in no particular order; -1 if there is no memory. `places` holds pairs: where the
 * postings of a term start and end. It is used up. The name changes with the
 * arguments, so that a library built before is passed over. */
API int64_t best_by_score(int64_t terms, int64_t large, int64_t total, int64_t k, int64_t *places,
                          const float *weights, const uint32_t *documents, const uint8_t *counts,
                          const int64_t *large_at, const uint32_t *large_counts, const uint8_t *lengths,
                          const float *inverses, int64_t *best_document, float *best_score)
{
    struct heap heap = {0, k, best_document, best_score};
    double *scores = malloc((WINDOW + GROUP) * sizeof *scores);
    if (!scores) return -1;
    for (int64_t base = 0; base < total; base += WINDOW) {
        int64_t size = total - base < WINDOW ? total - base : WINDOW;
        uint32_t limit = (uint32_t)(base + size - 1);
        memset(scores, 0, (size_t)(size + GROUP) * sizeof *scores);
        for (int64_t t = 0; t < terms; t++) {
            int64_t place = places[2 * t], stop = places[2 * t + 1];
            float weight = weights[t];
            for (; place < stop && documents[place] <= limit; place++) {
                uint32_t document = documents[place];
                float count = counts[place] ? (float)counts[place] : large_count(place, large, large_at, large_counts);
                scores[document - base] += weight - weight / (1.0f + count * inverses[lengths[document]]);
            }
            places[2 * t] = place;
        }
        collect(&heap, scores, base, size);
    }
    free(scores);
    return heap.size;
}
