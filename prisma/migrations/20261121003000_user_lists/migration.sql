-- Case and accents folded, as before, and: both small sigmas are one letter ('ΟΔΥΣ' begins 'Οδυσσέας'), 'ð' is 'd' and
-- 'þ' is 'th', and what cannot be seen is no part of a word.
CREATE OR REPLACE FUNCTION fold_text(value TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT replace(replace(replace(replace(translate(
        lower(regexp_replace(normalize(value, NFKD), '[\u0300-\u036f\u00ad\u200b-\u200f\u2060\ufeff]', '', 'g') COLLATE "und-x-icu"),
        'łøđðħŧıς', 'loddhtiσ'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th')
$$;

CREATE OR REPLACE FUNCTION sort_key(value TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT left(replace(replace(replace(replace(translate(
        lower(regexp_replace(normalize(value, NFKD), '[\u0300-\u036f\u00ad\u200b-\u200f\u2060\ufeff]', '', 'g') COLLATE "und-x-icu"),
        'łøđðħŧıς', 'loddhtiσ'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 200)
$$;

UPDATE "User" SET "name" = "name" WHERE "nameKey" IS DISTINCT FROM sort_key("name");

-- The folded words of a text. They end at white space, punctuation and signs, not at every mark: many scripts write
-- vowels as marks, and would come apart into letters.
CREATE OR REPLACE FUNCTION words_of(value TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_remove(regexp_split_to_array(fold_text(value), '[[:space:][:punct:][:cntrl:]$+<=>^`|~]+' COLLATE "und-x-icu"), '')
$$;

-- What a search asks for: each must begin a word of the user. What holds an @ is the beginning of an address. A word
-- that begins another asks for nothing more.
CREATE FUNCTION search_words(query TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH asked AS MATERIALIZED (
        SELECT DISTINCT left(word, 64) COLLATE "C" AS word
        FROM regexp_split_to_table(query, '[[:space:]]+' COLLATE "und-x-icu") part,
            LATERAL btrim(part, '<>,;()"') trimmed, LATERAL ltrim(trimmed, '@') token,
            LATERAL unnest(CASE WHEN strpos(token, '@') > 0 THEN ARRAY[fold_text(token)] ELSE words_of(token) END) word
        WHERE word <> ''
    )
    SELECT COALESCE(array_agg(a.word ORDER BY a.word), '{}') FROM asked a
    WHERE NOT EXISTS (SELECT FROM asked longer WHERE longer.word <> a.word AND starts_with(longer.word, a.word))
$$;

-- As before, but with each leaf's term as often as it is there: to take them apart cost more than all else, as the planner
-- expects two million of them.
CREATE OR REPLACE FUNCTION metadata_terms(metadata JSONB) RETURNS SETOF TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH RECURSIVE leaf(path, value) AS (
        SELECT key, value FROM jsonb_each(metadata)
        UNION ALL
        SELECT child.path, child.value FROM leaf, LATERAL (
            SELECT leaf.path || '.' || key AS path, value FROM jsonb_each(CASE WHEN jsonb_typeof(leaf.value) = 'object' THEN leaf.value END)
            UNION ALL
            SELECT leaf.path, element FROM jsonb_array_elements(CASE WHEN jsonb_typeof(leaf.value) = 'array' THEN leaf.value END) element
        ) child
    )
    SELECT metadata_term(path, value) FROM leaf WHERE jsonb_typeof(value) NOT IN ('object', 'array')
$$;

-- Whether a user has a term, and which are theirs, is told by one look into the index.
CREATE INDEX "UserTerm_tenantId_userId_term_idx" ON "UserTerm"("tenantId", "userId", "term");

-- One index tells of every combination of the flags, in order of id.
DROP INDEX "User_locked_idx";
DROP INDEX "User_tenantId_emailVerified_id_idx";
DROP INDEX "User_tenantId_phoneNumberVerified_id_idx";
DROP INDEX "User_tenantId_hasCredential_id_idx";
CREATE INDEX "User_flags_idx" ON "User"("tenantId", "locked", "emailVerified", "phoneNumberVerified", "hasCredential", "id");

-- Who has no address, in order of id; the unique index has them in none.
CREATE INDEX "User_without_email_idx" ON "User"("tenantId", "emailKey", "id") WHERE ("emailKey" IS NULL);

-- Terms of many users in one statement. Row by row it took 8 ms a user: each time, the statement was compiled (jit).
DROP TRIGGER "User_terms_insert" ON "User";
DROP TRIGGER "User_terms_delete" ON "User";
DROP TRIGGER "User_terms_update" ON "User";
DROP FUNCTION keep_user_terms();
DROP FUNCTION user_terms("User");

CREATE FUNCTION add_user_terms() RETURNS trigger LANGUAGE plpgsql SET jit = off AS $$
BEGIN
    INSERT INTO "UserTerm" ("tenantId", "term", "userId")
    SELECT u."tenantId", 'w:' || word, u."id" FROM changed u, unnest(user_words(u."name", u."givenName", u."familyName",
        u."middleName", u."nickname", u."preferredUsername", u."email")) word
    UNION ALL
    SELECT u."tenantId", term, u."id" FROM changed u, metadata_terms(u."appMetadata") term WHERE u."appMetadata" <> '{}'
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION drop_user_terms() RETURNS trigger LANGUAGE plpgsql SET jit = off AS $$
BEGIN
    DELETE FROM "UserTerm" t USING changed u WHERE t."tenantId" = u."tenantId" AND t."userId" = u."id";
    RETURN NULL;
END $$;

CREATE FUNCTION change_user_terms() RETURNS trigger LANGUAGE plpgsql SET jit = off AS $$
DECLARE
    terms TEXT[] := ARRAY(
        SELECT 'w:' || word FROM unnest(user_words(NEW."name", NEW."givenName", NEW."familyName", NEW."middleName",
            NEW."nickname", NEW."preferredUsername", NEW."email")) word
        UNION ALL
        SELECT term FROM metadata_terms(NEW."appMetadata") term WHERE NEW."appMetadata" <> '{}');
BEGIN
    DELETE FROM "UserTerm" WHERE "tenantId" = NEW."tenantId" AND "userId" = NEW."id" AND "term" <> ALL(terms);
    INSERT INTO "UserTerm" ("tenantId", "term", "userId") SELECT NEW."tenantId", term, NEW."id" FROM unnest(terms) term
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER "User_terms_insert" AFTER INSERT ON "User" REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION add_user_terms();
CREATE TRIGGER "User_terms_delete" AFTER DELETE ON "User" REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION drop_user_terms();
-- Row by row, so that a change of anything else asks nothing.
CREATE TRIGGER "User_terms_update" AFTER UPDATE ON "User" FOR EACH ROW
    WHEN ((OLD."name", OLD."givenName", OLD."familyName", OLD."middleName", OLD."nickname", OLD."preferredUsername", OLD."email")
        IS DISTINCT FROM (NEW."name", NEW."givenName", NEW."familyName", NEW."middleName", NEW."nickname", NEW."preferredUsername", NEW."email")
        OR OLD."appMetadata" IS DISTINCT FROM NEW."appMetadata")
    EXECUTE FUNCTION change_user_terms();

TRUNCATE "UserTerm";
INSERT INTO "UserTerm" ("tenantId", "term", "userId")
SELECT u."tenantId", 'w:' || word, u."id" FROM "User" u, unnest(user_words(u."name", u."givenName", u."familyName",
    u."middleName", u."nickname", u."preferredUsername", u."email")) word
UNION ALL
SELECT u."tenantId", term, u."id" FROM "User" u, metadata_terms(u."appMetadata") term WHERE u."appMetadata" <> '{}'
ON CONFLICT DO NOTHING;
