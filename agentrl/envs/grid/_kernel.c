/* The grid worlds' inner loops: one step of many environments, and many pictures from tiles.
 *
 * Plain C without Python's headers, called through ctypes (see kernel.py, which also holds the numpy version of
 * both functions; the tests hold the two against each other). An environment is a row in every array.
 */
#include <stdint.h>
#include <string.h>

#ifdef _WIN32
#define API __declspec(dllexport)
#else
#define API __attribute__((visibility("default")))
#endif

enum game { FROZENLAKE = 0, SOKOBAN = 1 };
enum autoreset { DISABLED = 0, NEXT_STEP = 1, SAME_STEP = 2 };
enum term { NOTHING = 0, STEP = 1, BOX_STORED = 2, SUCCESS = 3, INVALID = 4 };
enum lake { FROZEN, HOLE, GOAL, WALKER, FELL, ARRIVED };
enum room { WALL, FLOOR, TARGET, BOX, PLAYER, STORED, STANDING };

/* Setuptools insists on this symbol when it links on Windows; nobody imports the file as a module. */
API void *PyInit__kernel(void) { return 0; }

static const uint64_t GOLDEN = 0x9E3779B97F4A7C15ULL;

static uint64_t dice(uint64_t *key)
{
    *key += GOLDEN;
    uint64_t x = *key + GOLDEN;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

static int slide(uint8_t *codes, int32_t *player, int size, int action, uint8_t *effective, uint8_t *terminated)
{
    int row = *player / size, column = *player % size;
    if (action == 0 && column > 0) column--;
    if (action == 1 && row < size - 1) row++;
    if (action == 2 && column < size - 1) column++;
    if (action == 3 && row > 0) row--;
    int cell = row * size + column;
    if (cell == *player) return STEP;
    uint8_t tile = codes[cell];
    codes[*player] = FROZEN;
    codes[cell] = tile == GOAL ? ARRIVED : tile == HOLE ? FELL : WALKER;
    *player = cell;
    *effective = 1;
    *terminated = tile != FROZEN;
    return tile == GOAL ? SUCCESS : STEP;
}

static int push(uint8_t *codes, int32_t *player, int size, int action, uint8_t *effective, uint8_t *terminated)
{
    int step = action == 0 ? -1 : action == 1 ? size : action == 2 ? 1 : -size;
    int ahead = *player + step;
    uint8_t tile = codes[ahead];
    int boxed = tile == BOX || tile == STORED, stored = 0;
    if (tile == WALL) return STEP;
    if (boxed) {
        uint8_t beyond = codes[ahead + step];
        if (beyond != FLOOR && beyond != TARGET) return STEP;
        stored = beyond == TARGET;
        codes[ahead + step] = stored ? STORED : BOX;
    }
    codes[ahead] = tile == TARGET || tile == STORED ? STANDING : PLAYER;
    codes[*player] = codes[*player] == STANDING ? TARGET : FLOOR;
    *player = ahead;
    *effective = 1;
    if (!stored) return STEP;
    *terminated = memchr(codes, BOX, (size_t)size * size) == 0;
    return *terminated ? SUCCESS : BOX_STORED;
}

/* One step of n environments. `over` says whose last step ended its episode. With SAME_STEP the grids at the end of an
 * episode go to `final`. */
API void step(int32_t game, int64_t n, int32_t size, int32_t limit, int32_t slippery, int32_t autoreset,
              uint8_t *codes, int32_t *player, int32_t *steps, uint64_t *key, int64_t *level,
              const int64_t *stride, uint8_t *over, const uint8_t *pool, const int32_t *pool_player,
              int64_t pool_size, uint8_t *final, const int64_t *actions, uint8_t *term, uint8_t *effective,
              uint8_t *terminated, uint8_t *truncated)
{
    const int cells = size * size;
    for (int64_t i = 0; i < n; i++) {
        uint8_t *grid = codes + i * cells;
        term[i] = NOTHING;
        effective[i] = terminated[i] = truncated[i] = 0;
        if (!over[i]) {
            int64_t action = actions[i];
            if (action < 0 || action > 3) {
                term[i] = INVALID;
            } else {
                if (slippery) action = (action + (int64_t)(dice(key + i) % 3) + 3) % 4;
                term[i] = (uint8_t)(game == SOKOBAN
                    ? push(grid, player + i, size, (int)action, effective + i, terminated + i)
                    : slide(grid, player + i, size, (int)action, effective + i, terminated + i));
            }
            truncated[i] = ++steps[i] >= limit && !terminated[i];
            over[i] = terminated[i] | truncated[i];
            if (!over[i] || autoreset != SAME_STEP) continue;
            memcpy(final + i * cells, grid, cells);
        } else if (autoreset == DISABLED) {
            continue;
        }
        level[i] = (level[i] + stride[i]) % pool_size;
        memcpy(grid, pool + level[i] * cells, cells);
        player[i] = pool_player[level[i]];
        steps[i] = 0;
        over[i] = 0;
    }
}

/* Pictures of n grids: tile pixels [kinds, tile, tile, 3] laid out with a margin around the grid. `blank` is one
 * line of margin, [pixels, 3]. */
API void draw(int64_t n, int32_t size, int32_t tile, int32_t pixels, const uint8_t *codes, const uint8_t *tiles,
              const uint8_t *blank, uint8_t *out)
{
    const int side = tile * size, before = (pixels - side) / 2, after = pixels - side - before;
    const size_t run = (size_t)tile * 3, line = (size_t)pixels * 3;
    for (int64_t i = 0; i < n; i++) {
        uint8_t *to = out + i * line * pixels;
        for (int y = 0; y < before; y++, to += line) memcpy(to, blank, line);
        for (int y = 0; y < side; y++) {
            const uint8_t *kinds = codes + (i * size + y / tile) * size;
            const uint8_t *strip = tiles + (size_t)(y % tile) * run;
            memcpy(to, blank, (size_t)before * 3);
            to += before * 3;
            for (int column = 0; column < size; column++, to += run) memcpy(to, strip + kinds[column] * run * tile, run);
            memcpy(to, blank, (size_t)after * 3);
            to += after * 3;
        }
        for (int y = 0; y < after; y++, to += line) memcpy(to, blank, line);
    }
}
