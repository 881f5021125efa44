-- The ID token of a provider is a hint for the logout there. A session that ends otherwise needs none. A logout takes it
-- with the row.
CREATE FUNCTION clear_provider_id_token() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "ProviderSession" SET "idToken" = NULL
        WHERE "tenantId" = NEW."tenantId" AND "sessionId" = NEW."id" AND "idToken" IS NOT NULL;
    RETURN NULL;
END $$;

CREATE TRIGGER "Session_id_token" AFTER UPDATE OF "endedAt" ON "Session" FOR EACH ROW
    WHEN (OLD."endedAt" IS NULL AND NEW."endedAt" IS NOT NULL AND NEW."endReason" <> 'logout' AND NEW."kind" = 'browser')
    EXECUTE FUNCTION clear_provider_id_token();

UPDATE "ProviderSession" p SET "idToken" = NULL FROM "Session" s
    WHERE s."tenantId" = p."tenantId" AND s."id" = p."sessionId" AND s."endedAt" IS NOT NULL AND p."idToken" IS NOT NULL;
