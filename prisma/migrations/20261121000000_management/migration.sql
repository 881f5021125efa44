-- Case and accents folded: 'Łukasz Müller' is 'lukasz muller'. It calls no function of ours, so that a dump, which knows
-- no search path, can be restored; so does sort_key, which repeats it. Digits, letters of any script and marks that are
-- no accents stay.
CREATE FUNCTION fold_text(value TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT replace(replace(replace(translate(
        lower(regexp_replace(normalize(value, NFKD), '[\u0300-\u036f]', '', 'g') COLLATE "und-x-icu"),
        'łøđħŧı', 'lodhti'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe')
$$;

-- What names are ordered by. Short enough for an index, whatever the name.
CREATE FUNCTION sort_key(value TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT left(replace(replace(replace(translate(
        lower(regexp_replace(normalize(value, NFKD), '[\u0300-\u036f]', '', 'g') COLLATE "und-x-icu"),
        'łøđħŧı', 'lodhti'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 200)
$$;

-- DropIndex
DROP INDEX "Event_tenantId_userId_idx";

-- DropIndex
DROP INDEX "Session_tenantId_clientId_idx";

-- AlterTable
ALTER TABLE "EnrollmentToken" ADD COLUMN     "byManagement" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "challenge" TEXT COLLATE "C";

-- AlterTable
ALTER TABLE "User" ADD COLUMN     "externalId" TEXT COLLATE "C",
ADD COLUMN     "hasCredential" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "nameKey" TEXT COLLATE "C" GENERATED ALWAYS AS (sort_key("name")) STORED;

-- CreateTable
CREATE TABLE "UserTerm" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "term" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "UserTerm_pkey" PRIMARY KEY ("tenantId","term","userId")
);

-- CreateTable
CREATE TABLE "AddressChange" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "channel" TEXT COLLATE "C" NOT NULL,
    "address" TEXT COLLATE "C" NOT NULL,
    "shown" TEXT COLLATE "C" NOT NULL,
    "codeHash" BYTEA,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "sentAt" TIMESTAMPTZ(3) NOT NULL,
    "sendCount" INTEGER NOT NULL DEFAULT 0,
    "sendWindowAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "AddressChange_pkey" PRIMARY KEY ("tenantId","userId","channel")
);

-- CreateTable
CREATE TABLE "IdempotencyKey" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "keyHash" BYTEA NOT NULL,
    "requestHash" BYTEA NOT NULL,
    "answer" TEXT COLLATE "C",
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "IdempotencyKey_pkey" PRIMARY KEY ("tenantId","keyHash")
);

-- CreateIndex
CREATE INDEX "AddressChange_expiresAt_idx" ON "AddressChange"("expiresAt");

-- CreateIndex
CREATE INDEX "IdempotencyKey_expiresAt_idx" ON "IdempotencyKey"("expiresAt");

-- CreateIndex
CREATE INDEX "Client_tenantId_type_appType_id_idx" ON "Client"("tenantId", "type", "appType", "id");

-- CreateIndex
CREATE INDEX "Client_tenantId_appType_id_idx" ON "Client"("tenantId", "appType", "id");

-- CreateIndex
CREATE INDEX "Event_tenantId_userId_era_xid_seq_idx" ON "Event"("tenantId", "userId", "era", "xid", "seq");

-- CreateIndex
CREATE INDEX "Event_tenantId_type_era_xid_seq_idx" ON "Event"("tenantId", "type", "era", "xid", "seq");

-- CreateIndex
CREATE INDEX "Event_tenantId_sessionId_era_xid_seq_idx" ON "Event"("tenantId", "sessionId", "era", "xid", "seq") WHERE ("sessionId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Event_tenantId_actorUserId_era_xid_seq_idx" ON "Event"("tenantId", "actorUserId", "era", "xid", "seq") WHERE ("actorUserId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Event_tenantId_actorClientId_era_xid_seq_idx" ON "Event"("tenantId", "actorClientId", "era", "xid", "seq") WHERE ("actorClientId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Event_tenantId_occurredAt_idx" ON "Event"("tenantId", "occurredAt");

-- CreateIndex
CREATE INDEX "IdpUser_tenantId_idpId_userId_idx" ON "IdpUser"("tenantId", "idpId", "userId");

-- CreateIndex
CREATE INDEX "Session_tenantId_clientId_id_idx" ON "Session"("tenantId", "clientId", "id");

-- CreateIndex
CREATE INDEX "Session_active_ip_idx" ON "Session"("tenantId", "lastSeenIp", "id") WHERE ("endedAt" IS NULL);

-- CreateIndex
CREATE INDEX "Session_active_lastSeenAt_idx" ON "Session"("tenantId", "lastSeenAt", "id") WHERE ("endedAt" IS NULL);

-- CreateIndex
CREATE INDEX "Session_active_createdAt_idx" ON "Session"("tenantId", "createdAt", "id") WHERE ("endedAt" IS NULL);

-- CreateIndex
CREATE INDEX "User_tenantId_nameKey_id_idx" ON "User"("tenantId", "nameKey", "id");

-- CreateIndex
CREATE INDEX "User_tenantId_createdAt_id_idx" ON "User"("tenantId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "User_tenantId_updatedAt_id_idx" ON "User"("tenantId", "updatedAt", "id");

-- CreateIndex
CREATE INDEX "User_tenantId_lastSeenAt_id_idx" ON "User"("tenantId", "lastSeenAt", "id");

-- CreateIndex
CREATE INDEX "User_locked_idx" ON "User"("tenantId", "id") WHERE (locked);

-- CreateIndex
CREATE INDEX "User_tenantId_emailVerified_id_idx" ON "User"("tenantId", "emailVerified", "id");

-- CreateIndex
CREATE INDEX "User_tenantId_phoneNumberVerified_id_idx" ON "User"("tenantId", "phoneNumberVerified", "id");

-- CreateIndex
CREATE INDEX "User_tenantId_hasCredential_id_idx" ON "User"("tenantId", "hasCredential", "id");

-- CreateIndex
CREATE UNIQUE INDEX "User_externalId_key" ON "User"("tenantId", "externalId");

-- AddForeignKey
ALTER TABLE "AddressChange" ADD CONSTRAINT "AddressChange_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "IdempotencyKey" ADD CONSTRAINT "IdempotencyKey_tenantId_fkey" FOREIGN KEY ("tenantId") REFERENCES "Tenant"("tenantId") ON DELETE CASCADE ON UPDATE RESTRICT;

-- Prisma cannot say an index on an expression: the first thing that an entry names besides its user and session.
CREATE INDEX "Event_subject_idx" ON "Event"("tenantId", ("subjectIds"[1]), "era", "xid", "seq") WHERE "subjectIds"[1] IS NOT NULL;

-- Rows never move between tenants, whoever writes.
CREATE TRIGGER "UserTerm_tenant" BEFORE UPDATE OF "tenantId" ON "UserTerm" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
CREATE TRIGGER "AddressChange_tenant" BEFORE UPDATE OF "tenantId" ON "AddressChange" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
CREATE TRIGGER "IdempotencyKey_tenant" BEFORE UPDATE OF "tenantId" ON "IdempotencyKey" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

-- The folded words of a text.
CREATE FUNCTION words_of(value TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_remove(regexp_split_to_array(fold_text(value), '[^[:alnum:]]+' COLLATE "und-x-icu"), '')
$$;

-- What a search finds a user by: words of the names and of the address's local part, and the address as a whole.
CREATE FUNCTION user_words(name TEXT, given_name TEXT, family_name TEXT, middle_name TEXT, nickname TEXT,
    preferred_username TEXT, email TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT COALESCE(array_agg(DISTINCT left(word, 64) COLLATE "C"), '{}')
    FROM unnest(words_of(concat_ws(' ', name, given_name, family_name, middle_name, nickname, preferred_username,
        split_part(email, '@', 1))) || fold_text(email)) word
    WHERE word <> ''
$$;

-- A path of appMetadata with its value, as it is looked up: members joined with dots, elements of a list each by
-- themselves under the path of the list.
CREATE FUNCTION metadata_term(path TEXT, value JSONB) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT 'm:' || md5(path || '=' || value::text)
$$;

CREATE FUNCTION metadata_terms(metadata JSONB) RETURNS SETOF TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH RECURSIVE leaf(path, value) AS (
        SELECT key, value FROM jsonb_each(metadata)
        UNION ALL
        SELECT child.path, child.value FROM leaf, LATERAL (
            SELECT leaf.path || '.' || key AS path, value FROM jsonb_each(CASE WHEN jsonb_typeof(leaf.value) = 'object' THEN leaf.value END)
            UNION ALL
            SELECT leaf.path, element FROM jsonb_array_elements(CASE WHEN jsonb_typeof(leaf.value) = 'array' THEN leaf.value END) element
        ) child
    )
    SELECT DISTINCT metadata_term(path, value) FROM leaf WHERE jsonb_typeof(value) NOT IN ('object', 'array')
$$;

-- Not in SQL: PostgreSQL 15 fails to inline a function of a row with a generated column.
CREATE FUNCTION user_terms(u "User") RETURNS SETOF TEXT LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN QUERY SELECT 'w:' || word FROM unnest(user_words(u."name", u."givenName", u."familyName", u."middleName", u."nickname",
        u."preferredUsername", u."email")) word
    UNION ALL
    SELECT term FROM metadata_terms(u."appMetadata") term WHERE u."appMetadata" <> '{}';
END $$;

CREATE FUNCTION keep_user_terms() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP IN ('UPDATE', 'DELETE') THEN
        DELETE FROM "UserTerm" WHERE "tenantId" = OLD."tenantId" AND "userId" = OLD."id"
            AND "term" = ANY(ARRAY(SELECT user_terms(OLD)));
    END IF;
    IF TG_OP IN ('INSERT', 'UPDATE') THEN
        INSERT INTO "UserTerm" ("tenantId", "term", "userId") SELECT NEW."tenantId", term, NEW."id" FROM user_terms(NEW) term;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER "User_terms_insert" AFTER INSERT ON "User" FOR EACH ROW EXECUTE FUNCTION keep_user_terms();
CREATE TRIGGER "User_terms_delete" AFTER DELETE ON "User" FOR EACH ROW EXECUTE FUNCTION keep_user_terms();
CREATE TRIGGER "User_terms_update" AFTER UPDATE ON "User" FOR EACH ROW
    WHEN ((OLD."name", OLD."givenName", OLD."familyName", OLD."middleName", OLD."nickname", OLD."preferredUsername", OLD."email")
        IS DISTINCT FROM (NEW."name", NEW."givenName", NEW."familyName", NEW."middleName", NEW."nickname", NEW."preferredUsername", NEW."email")
        OR OLD."appMetadata" IS DISTINCT FROM NEW."appMetadata")
    EXECUTE FUNCTION keep_user_terms();

INSERT INTO "UserTerm" ("tenantId", "term", "userId") SELECT u."tenantId", term, u."id" FROM "User" u, user_terms(u) term;

-- Whether a user has a credential: told by the user's own row, so that lists can ask for it. The user's updatedAt stays.
CREATE FUNCTION keep_has_credential() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE "User" SET "hasCredential" = TRUE WHERE "tenantId" = NEW."tenantId" AND "id" = NEW."userId" AND NOT "hasCredential";
    ELSE
        UPDATE "User" u SET "hasCredential" = FALSE WHERE u."tenantId" = OLD."tenantId" AND u."id" = OLD."userId" AND u."hasCredential"
            AND NOT EXISTS (SELECT FROM "Credential" c WHERE c."tenantId" = OLD."tenantId" AND c."userId" = OLD."userId");
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER "Credential_flag" AFTER INSERT OR DELETE ON "Credential" FOR EACH ROW EXECUTE FUNCTION keep_has_credential();
UPDATE "User" u SET "hasCredential" = TRUE WHERE EXISTS (
    SELECT FROM "Credential" c WHERE c."tenantId" = u."tenantId" AND c."userId" = u."id");
