-- What a search finds a user by: words of the names and of the address without its top-level domain, the address as a
-- whole, and its domain with the @. The top-level domain would have "co" find everybody at .com.
CREATE OR REPLACE FUNCTION user_words(name TEXT, given_name TEXT, family_name TEXT, middle_name TEXT, nickname TEXT,
    preferred_username TEXT, email TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT COALESCE(array_agg(DISTINCT left(word, 64) COLLATE "C"), '{}')
    FROM unnest(words_of(concat_ws(' ', name, given_name, family_name, middle_name, nickname, preferred_username,
        regexp_replace(email, '\.[^.@]*$', ''))) || fold_text(email) || fold_text(substring(email from '@.*$'))) word
    WHERE word <> ''
$$;

-- As before, but a word that begins with @ and has a dot is the beginning of a domain.
CREATE OR REPLACE FUNCTION search_words(query TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH asked AS MATERIALIZED (
        SELECT DISTINCT left(word, 64) COLLATE "C" AS word
        FROM regexp_split_to_table(query, '[[:space:]]+' COLLATE "und-x-icu") part,
            LATERAL btrim(part, '<>,;()"') trimmed,
            LATERAL (SELECT CASE WHEN trimmed LIKE '@%.%' THEN trimmed ELSE ltrim(trimmed, '@') END AS token) kind,
            LATERAL unnest(CASE WHEN strpos(token, '@') > 0 THEN ARRAY[fold_text(token)] ELSE words_of(token) END) word
        WHERE word <> ''
    )
    SELECT COALESCE(array_agg(a.word ORDER BY a.word), '{}') FROM asked a
    WHERE NOT EXISTS (SELECT FROM asked longer WHERE longer.word <> a.word AND starts_with(longer.word, a.word))
$$;

INSERT INTO "UserTerm" ("tenantId", "term", "userId")
SELECT u."tenantId", 'w:' || word, u."id" FROM "User" u, unnest(user_words(u."name", u."givenName", u."familyName",
    u."middleName", u."nickname", u."preferredUsername", u."email")) word
WHERE u."email" IS NOT NULL
ON CONFLICT DO NOTHING;
