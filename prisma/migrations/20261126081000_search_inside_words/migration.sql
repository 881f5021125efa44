-- Han, kana, Hangul, Thai, Lao, Burmese and Khmer names are written without spaces: '太郎' is found in '山田太郎'. Words of
-- such a script are indexed by their ends as well, one from each letter that can begin a syllable: 200 of a user, more than
-- any name has. fold_text has taken Hangul apart, so that its syllables begin with a leading consonant.
CREATE FUNCTION word_ends(words TEXT[]) RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ARRAY(
        SELECT substr(word, start) FROM unnest(words) word, generate_series(2, LEAST(length(word), 64)) start
        WHERE substr(word, start, 1) COLLATE "C" ~ '[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf\u1000-\u102a\u103f\u1050-\u1055\u1100-\u115f\u1780-\u17b3\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uf900-\ufaff\U00020000-\U0003ffff]'
        LIMIT 200
    )
$$;

-- Whether a text has letters of those scripts: before it is folded, with Hangul syllables and half-width forms.
CREATE FUNCTION has_unspaced_script(value TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT value COLLATE "C" ~ '[\u0e01-\u0eff\u1000-\u115f\u1780-\u17b3\u3005-\u9fff\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]'
$$;

-- As before, with the ends of the words of the names.
CREATE OR REPLACE FUNCTION user_words(name TEXT, given_name TEXT, family_name TEXT, middle_name TEXT, nickname TEXT,
    preferred_username TEXT, email TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT COALESCE(array_agg(DISTINCT left(word, 64) COLLATE "C"), '{}')
    FROM unnest(words_of(concat_ws(' ', name, given_name, family_name, middle_name, nickname, preferred_username,
        regexp_replace(email, '\.[^.@]*$', ''))) || fold_text(email) || fold_text(substring(email from '@.*$'))
        || CASE WHEN has_unspaced_script(concat_ws(' ', name, given_name, family_name, middle_name, nickname, preferred_username))
            THEN word_ends(words_of(concat_ws(' ', name, given_name, family_name, middle_name, nickname, preferred_username)))
            ELSE '{}' END) word
    WHERE word <> ''
$$;

INSERT INTO "UserTerm" ("tenantId", "term", "userId")
SELECT u."tenantId", 'w:' || word, u."id" FROM "User" u, unnest(user_words(u."name", u."givenName", u."familyName",
    u."middleName", u."nickname", u."preferredUsername", u."email")) word
WHERE has_unspaced_script(concat_ws(' ', u."name", u."givenName", u."familyName", u."middleName", u."nickname", u."preferredUsername"))
ON CONFLICT DO NOTHING;
