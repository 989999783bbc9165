"""What products look like: simple drawings in a square of 100 by 100, and which words stand for which of them.

A stroke is (form, tone, numbers): `box` and `oval` by their corners, `round` is a box with round corners, `poly` a
polygon, `line` a broken line of width 4. Tones are of the product's colour (`main`, `dark`, `light`) or fixed.
"""

from __future__ import annotations

Stroke = tuple[str, str, tuple[float, ...]]

SHAPES: dict[str, tuple[Stroke, ...]] = {
    "shirt": (
        ("poly", "main", (30, 16, 10, 32, 20, 48, 29, 41, 29, 86, 71, 86, 71, 41, 80, 48, 90, 32, 70, 16, 60, 22)),
        ("poly", "dark", (40, 18, 50, 32, 60, 18, 60, 22, 50, 36, 40, 22)),
        ("line", "dark", (50, 38, 50, 84)),
    ),
    "sweater": (
        ("poly", "main", (32, 16, 14, 26, 6, 76, 20, 78, 29, 46, 29, 86, 71, 86, 71, 46, 80, 78, 94, 76, 86, 26)),
        ("oval", "dark", (38, 10, 62, 28)),
        ("box", "light", (29, 80, 71, 86)),
    ),
    "trousers": (
        ("poly", "main", (28, 12, 72, 12, 80, 90, 58, 90, 50, 38, 42, 90, 20, 90)),
        ("box", "dark", (28, 12, 72, 20)),
    ),
    "shorts": (
        ("poly", "main", (22, 26, 78, 26, 88, 74, 56, 78, 50, 54, 44, 78, 12, 74)),
        ("box", "dark", (22, 26, 78, 34)),
    ),
    "dress": (
        ("poly", "main", (36, 10, 44, 22, 56, 22, 64, 10, 70, 16, 62, 40, 84, 90, 16, 90, 38, 40, 30, 16)),
        ("poly", "dark", (38, 40, 62, 40, 64, 46, 36, 46)),
    ),
    "shoe": (
        ("poly", "main", (10, 38, 34, 34, 44, 46, 74, 54, 90, 60, 92, 72, 10, 72)),
        ("box", "dark", (8, 72, 93, 80)),
        ("line", "white", (40, 46, 52, 42)),
        ("line", "white", (50, 51, 61, 46)),
    ),
    "boot": (
        ("poly", "main", (26, 12, 56, 12, 56, 54, 84, 62, 88, 78, 26, 78)),
        ("box", "dark", (24, 78, 90, 87)),
        ("box", "light", (26, 12, 56, 20)),
    ),
    "bag": (
        ("line", "dark", (34, 38, 36, 18, 64, 18, 66, 38)),
        ("round", "main", (16, 36, 84, 88)),
        ("box", "dark", (16, 50, 84, 55)),
        ("round", "light", (42, 47, 58, 60)),
    ),
    "jewel": (
        ("oval", "main", (20, 30, 80, 90)),
        ("oval", "back", (30, 40, 70, 80)),
        ("poly", "light", (50, 8, 64, 20, 50, 36, 36, 20)),
    ),
    "watch": (
        ("box", "dark", (38, 6, 62, 94)),
        ("round", "main", (26, 28, 74, 72)),
        ("round", "ink", (32, 34, 68, 66)),
        ("line", "white", (50, 50, 50, 40)),
        ("line", "white", (50, 50, 58, 54)),
    ),
    "bottle": (
        ("box", "ink", (42, 8, 58, 20)),
        ("poly", "main", (40, 20, 60, 20, 60, 30, 70, 42, 70, 92, 30, 92, 30, 42, 40, 30)),
        ("box", "white", (34, 54, 66, 78)),
        ("box", "dark", (40, 61, 60, 65)),
    ),
    "jar": (
        ("round", "ink", (24, 18, 76, 34)),
        ("round", "main", (20, 32, 80, 88)),
        ("box", "white", (28, 46, 72, 74)),
        ("box", "dark", (36, 55, 64, 60)),
    ),
    "tube": (
        ("poly", "main", (26, 8, 74, 8, 66, 78, 34, 78)),
        ("round", "ink", (36, 76, 64, 92)),
        ("box", "light", (36, 28, 64, 46)),
    ),
    "stick": (
        ("poly", "main", (38, 22, 58, 10, 62, 14, 62, 46, 38, 46)),
        ("box", "light", (36, 44, 64, 58)),
        ("round", "ink", (32, 56, 68, 92)),
    ),
    "brush": (
        ("round", "main", (42, 44, 58, 94)),
        ("box", "light", (38, 36, 62, 48)),
        ("poly", "ink", (38, 36, 30, 12, 50, 6, 70, 12, 62, 36)),
    ),
    "tool": (
        ("round", "main", (14, 18, 78, 48)),
        ("round", "dark", (34, 44, 54, 92)),
        ("box", "ink", (76, 22, 90, 44)),
        ("oval", "light", (24, 24, 42, 42)),
    ),
    "palette": (
        ("round", "ink", (10, 26, 90, 74)),
        ("oval", "main", (16, 32, 46, 62)),
        ("oval", "light", (54, 32, 84, 62)),
        ("box", "dark", (18, 66, 82, 70)),
    ),
    "soap": (
        ("round", "main", (12, 40, 88, 78)),
        ("round", "light", (24, 48, 76, 68)),
        ("oval", "white", (66, 14, 84, 32)),
    ),
    "phone": (
        ("round", "main", (30, 6, 70, 94)),
        ("box", "ink", (34, 14, 66, 80)),
        ("oval", "light", (45, 83, 55, 92)),
    ),
    "screen": (
        ("round", "main", (8, 16, 92, 72)),
        ("box", "ink", (13, 21, 87, 67)),
        ("poly", "light", (13, 67, 40, 21, 60, 21, 33, 67)),
        ("box", "dark", (44, 72, 56, 82)),
        ("box", "dark", (28, 82, 72, 88)),
    ),
    "laptop": (
        ("round", "main", (18, 20, 82, 66)),
        ("box", "ink", (23, 25, 77, 61)),
        ("poly", "dark", (8, 80, 18, 66, 82, 66, 92, 80)),
    ),
    "headphones": (
        ("oval", "main", (14, 14, 86, 94)),
        ("oval", "back", (23, 23, 77, 100)),
        ("box", "back", (10, 66, 90, 100)),
        ("round", "dark", (10, 52, 30, 86)),
        ("round", "dark", (70, 52, 90, 86)),
    ),
    "cable": (
        ("line", "main", (20, 84, 20, 40, 50, 22, 80, 40, 80, 84)),
        ("round", "dark", (10, 72, 30, 94)),
        ("round", "dark", (70, 72, 90, 94)),
        ("line", "main", (32, 60, 68, 60)),
    ),
    "camera": (
        ("box", "dark", (34, 20, 62, 34)),
        ("round", "main", (10, 30, 90, 82)),
        ("oval", "ink", (32, 36, 68, 76)),
        ("oval", "light", (42, 46, 58, 64)),
    ),
    "speaker": (
        ("round", "main", (26, 8, 74, 92)),
        ("oval", "ink", (34, 46, 66, 82)),
        ("oval", "light", (44, 56, 56, 70)),
        ("oval", "ink", (42, 18, 58, 36)),
    ),
    "device": (
        ("round", "main", (12, 30, 88, 74)),
        ("box", "ink", (20, 40, 58, 64)),
        ("oval", "light", (68, 40, 80, 54)),
        ("box", "dark", (18, 74, 28, 82)),
        ("box", "dark", (72, 74, 82, 82)),
    ),
    "keyboard": (
        ("round", "main", (6, 32, 94, 74)),
        *(("box", "ink", (12 + 13 * k, 38, 21 + 13 * k, 47)) for k in range(6)),
        *(("box", "ink", (12 + 13 * k, 51, 21 + 13 * k, 60)) for k in range(6)),
        ("box", "ink", (28, 64, 72, 70)),
    ),
    "chair": (
        ("round", "main", (26, 10, 74, 56)),
        ("round", "dark", (20, 50, 80, 66)),
        ("line", "ink", (27, 66, 22, 92)),
        ("line", "ink", (73, 66, 78, 92)),
    ),
    "table": (
        ("poly", "main", (8, 36, 92, 36, 86, 50, 14, 50)),
        ("line", "dark", (18, 50, 18, 88)),
        ("line", "dark", (82, 50, 82, 88)),
    ),
    "shelf": (
        ("box", "main", (20, 8, 80, 94)),
        ("box", "back", (26, 14, 74, 34)),
        ("box", "back", (26, 40, 74, 60)),
        ("box", "back", (26, 66, 74, 86)),
        ("box", "dark", (32, 44, 40, 60)),
        ("box", "light", (42, 48, 50, 60)),
    ),
    "lamp": (
        ("poly", "main", (36, 10, 64, 10, 80, 46, 20, 46)),
        ("box", "ink", (47, 46, 53, 84)),
        ("round", "dark", (32, 82, 68, 92)),
        ("poly", "light", (26, 46, 74, 46, 71, 50, 29, 50)),
    ),
    "pillow": (
        ("poly", "main", (10, 20, 50, 26, 90, 20, 84, 50, 90, 80, 50, 74, 10, 80, 16, 50)),
        ("line", "light", (24, 34, 50, 38, 76, 34)),
    ),
    "cloth": (
        ("poly", "main", (12, 14, 88, 14, 88, 82, 12, 82)),
        ("box", "dark", (12, 66, 88, 72)),
        ("box", "light", (12, 24, 88, 30)),
        *(("line", "dark", (18 + 16 * k, 82, 18 + 16 * k, 92)) for k in range(5)),
    ),
    "curtain": (
        ("box", "ink", (6, 8, 94, 14)),
        ("poly", "main", (14, 14, 44, 14, 40, 92, 10, 92)),
        ("poly", "main", (56, 14, 86, 14, 90, 92, 60, 92)),
        ("line", "dark", (28, 18, 25, 88)),
        ("line", "dark", (72, 18, 75, 88)),
    ),
    "pan": (
        ("oval", "main", (8, 30, 66, 84)),
        ("oval", "ink", (15, 37, 59, 77)),
        ("poly", "dark", (62, 46, 94, 18, 98, 26, 66, 58)),
    ),
    "pot": (
        ("poly", "main", (24, 44, 76, 44, 68, 92, 32, 92)),
        ("box", "dark", (20, 36, 80, 46)),
        ("poly", "leaf", (50, 36, 26, 14, 48, 20, 50, 4, 56, 20, 76, 14)),
    ),
    "basket": (
        ("line", "dark", (26, 40, 34, 14, 66, 14, 74, 40)),
        ("poly", "main", (12, 40, 88, 40, 78, 90, 22, 90)),
        ("line", "dark", (17, 56, 83, 56)),
        ("line", "dark", (20, 72, 80, 72)),
    ),
    "clock": (
        ("oval", "main", (12, 12, 88, 88)),
        ("oval", "white", (20, 20, 80, 80)),
        ("line", "ink", (50, 50, 50, 28)),
        ("line", "ink", (50, 50, 66, 58)),
    ),
    "frame": (
        ("box", "main", (14, 10, 86, 90)),
        ("box", "white", (24, 20, 76, 80)),
        ("poly", "leaf", (24, 80, 44, 46, 56, 64, 64, 52, 76, 80)),
    ),
    "packet": (
        ("poly", "main", (22, 14, 78, 14, 82, 90, 18, 90)),
        ("box", "dark", (22, 14, 78, 22)),
        ("oval", "white", (30, 38, 70, 72)),
        ("oval", "light", (40, 46, 60, 64)),
    ),
    "carton": (
        ("box", "main", (20, 20, 80, 90)),
        ("poly", "dark", (20, 20, 30, 8, 90, 8, 80, 20)),
        ("poly", "dark", (80, 20, 90, 8, 90, 78, 80, 90)),
        ("box", "white", (28, 42, 72, 70)),
        ("box", "light", (36, 52, 64, 60)),
    ),
    "tin": (
        ("oval", "dark", (22, 76, 78, 94)),
        ("box", "main", (22, 24, 78, 86)),
        ("oval", "light", (22, 12, 78, 34)),
        ("box", "white", (22, 44, 78, 70)),
    ),
    "cup": (
        ("line", "main", (70, 42, 88, 42, 88, 64, 70, 64)),
        ("poly", "main", (20, 32, 74, 32, 68, 84, 26, 84)),
        ("oval", "ink", (20, 26, 74, 40)),
        ("box", "dark", (14, 84, 80, 90)),
    ),
}  # fmt: skip

# The first word or phrase that the kind of a product contains decides (an s at the end of a word does not matter);
# otherwise its category does.
WORDS: tuple[tuple[str, str], ...] = tuple(
    (word, shape)
    for shape, listed in {
        "watch": "watch|tracker",
        "bag": "bag|backpack|wallet|suitcase|sleeve",
        "lamp": "lamp|light|sconce|candle",
        "camera": "camera|doorbell|projector",
        "headphones": "headphone|headset|earbud|earphone|headband",
        "cable": "cable|adapter|charger|hose",
        "phone": "phone|tablet|protector|power bank|recorder",
        "laptop": "laptop",
        "screen": "tv|monitor|mirror|window film|computer|pc",
        "keyboard": "keyboard",
        "speaker": "speaker|soundbar|radio|player",
        "clock": "clock",
        "frame": "frame",
        "boot": "boot",
        "shoe": "sneaker|ballet flat|sandal|heel|loafer|oxford|slipper",
        "shorts": "short|trunk|brief",
        "trousers": "pant|jean|legging|sweatpant",
        "shirt": "shirt|polo|blouse|tank|bra",
        "dress": "dress|skirt|nightgown|jumpsuit|tunic|bathrobe",
        "sweater": "hoodie|henley|jacket|cardigan|sweater|pajama|thermal",
        "jewel": "necklace|earring|bracelet|ring",
        "curtain": "curtain|shade|panel",
        "pillow": "pillow|mattress",
        "cloth": "cover|sheet|blanket|rug|mat|towel",
        "chair": "chair|bench|umbrella",
        "table": "table|stand|tripod|mount",
        "shelf": "bookcase|organizer|shoe rack|divider",
        "basket": "basket|hamper|container",
        "pan": "pan|cooker|fryer|dinnerware|board|knife",
        "pot": "planter|feeder|kimchi",
        "cup": "coffee|tea|kettle|cocoa|broth|blender|brew",
        "brush": "brush|toothbrush|floss",
        "tool": "dryer|iron|clipper|trimmer|razor|curler|roller|file|head",
        "palette": "palette|nail kit",
        "stick": "lipstick|stick|mascara",
        "soap": "soap|bomb",
        "jar": "warmer|mask|scrub|moisturizer|cream|balm|jam|butter|paste|perfume|sauce",
        "tube": "toothpaste|cleanser|lotion|conditioner|foundation|whitening",
        "bottle": "shampoo|serum|oil|polish|parfum|cologne|mist|wash|water|syrup|extract|soy",
        "tin": "tuna|salmon|tofu|rub|turmeric|paprika|salt|mint",
        "carton": "mix|cake|bar|noodle|taco|burger|truffle|granola|oat",
    }.items()
    for word in listed.split("|")
)
BY_CATEGORY = {"beauty": "bottle", "electronics": "device", "garden": "shelf", "fashion": "shirt", "grocery": "packet"}

# What colour words mean; others are looked for among the names that Pillow knows.
TINTS = {
    "almond": "#d8c0a0", "amber": "#e0a020", "amethyst": "#9866c8", "apricot": "#f4b890", "auburn": "#8a3020",
    "berry": "#a02860", "blonde": "#e8d098", "blush": "#e8b0b4", "bronze": "#a87840", "burgundy": "#7c1c34",
    "camel": "#c09060", "caramel": "#b87840", "champagne": "#ead8b4", "charcoal": "#44484e", "cherry": "#b0182c",
    "chestnut": "#7c4028", "clear": "#dce8ec", "cobalt": "#2048b0", "cocoa": "#6c4430", "coffee": "#5c4030",
    "copper": "#b86c40", "cream": "#f0e6cc", "denim": "#40608c", "ebony": "#3c3430", "emerald": "#188c5c",
    "espresso": "#4c3428", "garnet": "#80203c", "ginger": "#b8682c", "graphite": "#505458", "gunmetal": "#4c5860",
    "hazel": "#947048", "jade": "#30a070", "lemon": "#f0dc50", "lilac": "#c0a0d8", "mahogany": "#6c3024",
    "mauve": "#b48cb0", "mint": "#a0dcc0", "mocha": "#80604c", "mustard": "#d0a028", "nickel": "#a8aca8",
    "nude": "#dcb8a0", "ochre": "#c08430", "onyx": "#30343a", "peach": "#f4bc9c", "pearl": "#ece8e0",
    "periwinkle": "#98a0e0", "pewter": "#8c9498", "platinum": "#dcdcd8", "raspberry": "#b82858", "rose": "#d8708c",
    "ruby": "#a81c40", "rust": "#a84824", "sage": "#a0b090", "sand": "#d8c49c", "sapphire": "#2050a0",
    "scarlet": "#cc2424", "sky": "#88c0e8", "slate": "#647080", "taupe": "#94847c", "terracotta": "#c06848",
    "vanilla": "#f0e4c0", "walnut": "#644834", "wine": "#6c2034", "multicolor": "#c070a0", "grey": "#8c9094",
    "gray": "#8c9094", "black": "#34363a", "white": "#eef0f2", "blue": "#3468c8", "red": "#cc3438", "green": "#3c9450",
    "yellow": "#ecc840", "pink": "#ec98b4", "purple": "#8050b0", "brown": "#84583c", "orange": "#e88430",
}  # fmt: skip
PALETTE = ("#4878a8", "#c87850", "#689868", "#a86890", "#c8a040", "#5898a0", "#8878b8", "#b05858")
