"""Words that our own noun tagger knows by heart: what is never a noun in a title, and nouns that look otherwise."""

from __future__ import annotations

FUNCTION_WORDS = frozenset(
    """
    a about above across after again against all along also although always an and another any anyone anything are around
    as at away be because been before behind being below beneath beside besides between beyond both but by can could did
    do does doing done down during each either else enough even ever every everyone everything few for from further had
    has have having he her here hers him his how however i if in inside instead into is it its itself just last least less
    many may me mine more most much must my near neither never next no nor not nothing now of off often on once one only
    onto or other others our ours out outside over own per plus rather same several shall she should since so some such
    than that the their theirs them then there these they this those though through throughout thus till to together too
    toward towards two three four five six seven eight nine ten under until up upon us very via was we well were what
    whatever when where whether which while who whole whose why will with within without would yet you your yours
    w/o w n
    """.split()
)

ADJECTIVES = frozenset(
    """
    able active actual adult airy alkaline ample ancient antique artisan asian athletic automatic available bare basic
    beautiful best better big bigger black bland blank blind blue blush bold boneless brand-new brief bright brisk broad
    bronze brown bulky busy calm canned careful cheap chewy chic chilly chunky classic clean clear clever close coarse
    cold comfy compact complete concrete cool cordless corded cozy creamy crisp crispy crunchy curly current curved custom
    cute damp dark dear decent deep deluxe dense detachable diabetic different dirty double dry dual dull durable dusty
    eager early eastern easy edible elastic electric electrical elegant empty entire equal essential even exact excellent
    exclusive exotic expert exposed extra fair false famous fancy fast fat favorite fellow female festive few fiery final
    fine firm first fit fitted fixed flaky flat flexible floral fluffy folding foldable formal fragrant free french fresh
    full fun funny further fuzzy general generous gentle genuine giant glad glossy gluten-free gold golden good gorgeous
    gradual grand gray great greek green grey halal handmade handy happy hard hardy harsh healthy hearty heavy heavy-duty
    high hollow holy honest hot huge human hybrid ideal independent indoor inner instant intense interior italian japanese
    juicy keen kind knotless korean kosher large larger late latin lean left legal light lightweight little lively local
    long longer loose loud lovely low low-rise loyal lucky lush luxury magnetic main major male manual marvelous matte mature
    mere mexican mid mighty mild mini minimal minor minty mixed mobile modern modest moist multiple mute narrow nasal natural
    nautical neat new nice noble noisy non nonslip nonstick novel nude numb nutty obvious odd official oily old only open
    optimal optional orange ordinary organic original outdoor outer oval overall oversized pale paleo paper-thin partial past
    perfect petite pink plain plant-based plastic-free pleasant plush polite poor popular portable posh possible powerful
    precious precise premium present pretty previous prime private pro professional prompt proper proud public pure purple
    quick quiet random rapid rare raw ready real rear recent red refined regular reliable remote rich right rigid ripe roomy
    rotary rough round royal rugged rustic sad safe salty satin-finish savory seamless seasonal secure senior sensitive
    separate serious sharp sheer shiny short shorter silent silky silver similar simple single skinny sleek slick slight slim
    slow small smaller smart smoky smooth snug social soft softer solar sole solid soothing sophisticated sour southern spare
    special spicy splendid square stable standard steady steep sticky stiff straight strange strappy strict strong stronger
    sturdy stylish subtle such sudden sufficient sugarless suitable sunny super superb supple sure sweet swift tall tan tart
    tasty tender thermal thick thicker thin thirsty thorough tidy tiny tough tropical true turkish twin typical ultimate ultra
    unique universal unscented upright upper upset useful usual vague valid various vast vegan vertical vibrant vintage violet
    virtual visible vivid warm washable waterproof weak wealthy wet wheat-free white wide wider wild windproof winter-ready
    wireless wise witty wonderful wooden woolen worthy wrong yellow young zesty
    adjustable anti breathable cruelty-free full-size heat-resistant high-waisted keto natural-looking non-gmo non-slip
    """.split()
)

VERBS_AND_ADVERBS = frozenset(
    """
    absorb absorbs accept add adds adjust admire allow allows apply applies arrive arrives attach avoid backed baked balance
    be bring brings brushed build built buy came care-free carries carry catch choose clean cleans clip come comes combine
    connect connects control cook cooks cover covers create creates cut deliver delivers design dries drink dry ease eat eats
    enhance enhances enjoy enjoys ensure expand fade fall feel feels fill find fit fits fold folds follow gave get gets
    gives give glide glides go goes grab grow grows grown handle help helps hide hold holds improve includes include install
    invite keep keeps knit know last lasts lay leave leaves let lets lie lift like locks look looks love loves made make makes
    match matches meet meets melt melts moisturize moisturizes need needs nourish nourishes offer offers open opens pairs
    perform performs pick play plays polish prepare prevent prevents protect protects provide provides put reach reduce
    reduces refresh reheat remain remove removes repair repairs resist resists restore reveal ride rinse rinses roll run runs
    save say see sell serve serves shape sit sits sleep slide slides slip snap soak soften softens soothe soothes spread
    stand stands stay stays stop stops store stores suit suits take takes taste tastes tell think tie treat try turn turns
    use uses want wants was wash washes wear wears wipe wipes withstand withstands work works wrap wraps worn woven
    almost apart daily ever forever hardly indoors maybe monthly nearly nightly outdoors perhaps quite really soon straightaway
    thereby twice weekly yearly again already together
    """.split()
)

# Nouns that the rules for endings would take for something else.
NOUNS = frozenset(
    """
    acrylic adhesive alternative animal anniversary antiseptic archive arctic art assembly automotive awning bag balsamic bed
    bedding beading belly bling blazer body bread building burlap butterfly butterscotch cable camping canal capital captive
    cardinal cardigan casing ceiling cereal ceramic charging clinic clothing coating collective comic cooking cosmetic
    crystal cushioning decal detective dial diffuser digital dressing earring electronic engraving epic ethnic evening
    executive expanse eyelash fabric family feed festival filling finishing fishing flooring fly foundation framing frosting
    funnel garlic gardening gelatin girl glazing graphic grilling guild hair handful hashish heading hearing hiking hive hospital
    housing hunting icing interval jelly jersey jewel journal journalist kid kindling king knitting label landing lighting
    lily lining living logic logo madrigal magic manual marble material meal medal medallion metal mic micronic mineral
    mattress moccasin molding morning mosaic motive mouthful multivitamin mural music native needle nickel novel objective
    offering olive opening oral outing packaging packing padding painting panic parking pedal perennial petal picnic pie
    piercing piping plaid plastic plating plumbing pocketful principal proposal pudding pyjamas quilting railing reading
    recliner reed relative residential rial ring rival roofing rosemary running sandal saving sawing scaffolding seal seating seasoning
    seed sewing shading shaving shed shelving shipping shooting siding signal sling speed spoonful spring squeegee stable
    stuffing string styling supply swimming swing syllable table tablet tallow teal terminal testimonial thing throttle
    timing tonic topic topping towel traffic training trial tubing turntable upholstery variable vegetable velvet vessel
    visual vitamin wading walking wallpaper washing weaving wedding weed wellbeing wing wiring workable wrapping writing
    yearling yoga zing
    clip combo control cover cut design drink dry-box fade fall fill fit fold handle hide knit last leaves lift lock lotion
    match play polish repair roll run shape slide slip snap soak spread stand store suit tie treat use wash wear wrap
    cream gold silver light oil sleep care look love life grip water gift gifts home
    """.split()
) - frozenset(
    "digital natural manual dry fit visual residential last use love open wash wear look knit cut sleep".split()
)
