-- Nothing here changes during an episode: processes may keep what they read (see atlas.py).
CREATE TABLE settlement ( -- the city, the towns, and the districts of the city
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, -- city, town, suburb
    name TEXT NOT NULL, county TEXT NOT NULL, postcode TEXT NOT NULL, population INTEGER NOT NULL,
    lat REAL NOT NULL, lon REAL NOT NULL
);
CREATE TABLE junction (id INTEGER PRIMARY KEY, lat REAL NOT NULL, lon REAL NOT NULL);
CREATE TABLE street (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, class TEXT NOT NULL, -- motorway, primary, secondary, residential, pedestrian, path, cycleway
    settlement TEXT NOT NULL, district TEXT NOT NULL, postcode TEXT NOT NULL, maxspeed INTEGER NOT NULL,
    oneway INTEGER NOT NULL, bridge INTEGER NOT NULL, surface TEXT NOT NULL, length INTEGER NOT NULL, -- metres
    lat REAL NOT NULL, lon REAL NOT NULL -- its middle
);
CREATE TABLE road ( -- a straight piece of a street between two junctions
    id INTEGER PRIMARY KEY, street_id INTEGER NOT NULL, start_id INTEGER NOT NULL, end_id INTEGER NOT NULL,
    length REAL NOT NULL -- metres
);
CREATE TABLE area ( -- drawn below the streets
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, -- town, park, forest, water
    outline TEXT NOT NULL -- "lat,lon lat,lon ..."
);
CREATE TABLE place (
    id INTEGER PRIMARY KEY, element TEXT NOT NULL, -- node or way
    name TEXT NOT NULL, category TEXT NOT NULL, -- name of a category in categories.py; house: an address without a name
    street TEXT NOT NULL, number TEXT NOT NULL, postcode TEXT NOT NULL, district TEXT NOT NULL, settlement TEXT NOT NULL,
    phone TEXT NOT NULL, website TEXT NOT NULL, opening_hours TEXT NOT NULL, wheelchair TEXT NOT NULL,
    cuisine TEXT NOT NULL, tags TEXT NOT NULL, -- further tags as a JSON object
    lat REAL NOT NULL, lon REAL NOT NULL
);
