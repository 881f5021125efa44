-- As before, but only of paths that a filter can name: 60 KB of members below one of a long name were 120 MB of paths, and
-- kept the database busy for seconds.
CREATE OR REPLACE FUNCTION metadata_terms(metadata JSONB) RETURNS SETOF TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH RECURSIVE leaf(path, value) AS (
        SELECT key, value FROM jsonb_each(metadata) WHERE length(key) <= 1000
        UNION ALL
        SELECT child.path, child.value FROM leaf, LATERAL (
            SELECT leaf.path || '.' || key AS path, value FROM jsonb_each(CASE WHEN jsonb_typeof(leaf.value) = 'object' THEN leaf.value END)
            WHERE length(leaf.path) + 1 + length(key) <= 1000
            UNION ALL
            SELECT leaf.path, element FROM jsonb_array_elements(CASE WHEN jsonb_typeof(leaf.value) = 'array' THEN leaf.value END) element
        ) child
    )
    SELECT metadata_term(path, value) FROM leaf WHERE jsonb_typeof(value) NOT IN ('object', 'array')
$$;

-- As before, but what is gone is found by sorting: comparing each of 6,000 terms with each took a second of every change
-- but the first five, whose plans know the terms.
CREATE OR REPLACE FUNCTION change_user_terms() RETURNS trigger LANGUAGE plpgsql SET jit = off AS $$
DECLARE
    terms TEXT[] := ARRAY(
        SELECT 'w:' || word FROM unnest(user_words(NEW."name", NEW."givenName", NEW."familyName", NEW."middleName",
            NEW."nickname", NEW."preferredUsername", NEW."email")) word
        UNION ALL
        SELECT term FROM metadata_terms(NEW."appMetadata") term WHERE NEW."appMetadata" <> '{}');
BEGIN
    DELETE FROM "UserTerm" WHERE "tenantId" = NEW."tenantId" AND "userId" = NEW."id" AND "term" = ANY(ARRAY(
        SELECT "term" FROM "UserTerm" WHERE "tenantId" = NEW."tenantId" AND "userId" = NEW."id"
        EXCEPT SELECT unnest(terms) COLLATE "C"));
    INSERT INTO "UserTerm" ("tenantId", "term", "userId") SELECT NEW."tenantId", term, NEW."id" FROM unnest(terms) term
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
