-- AlterTable
ALTER TABLE "User" ADD COLUMN     "credentialRemovedAt" TIMESTAMPTZ(3);

-- A removed credential counts for the rules of recovery, which the removal would avoid otherwise.
CREATE OR REPLACE FUNCTION keep_has_credential() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE "User" SET "hasCredential" = TRUE WHERE "tenantId" = NEW."tenantId" AND "id" = NEW."userId" AND NOT "hasCredential";
        UPDATE "User" SET "hasSecondFactor" = TRUE WHERE NEW."type" = 'totp' AND "tenantId" = NEW."tenantId" AND "id" = NEW."userId"
            AND NOT "hasSecondFactor";
    ELSE
        UPDATE "User" u SET "credentialRemovedAt" = now(), "hasCredential" = EXISTS (
                SELECT FROM "Credential" c WHERE c."tenantId" = OLD."tenantId" AND c."userId" = OLD."userId")
            WHERE u."tenantId" = OLD."tenantId" AND u."id" = OLD."userId";
        UPDATE "User" u SET "hasSecondFactor" = FALSE WHERE OLD."type" = 'totp' AND u."tenantId" = OLD."tenantId" AND u."id" = OLD."userId"
            AND u."hasSecondFactor" AND NOT EXISTS (
                SELECT FROM "Credential" c WHERE c."tenantId" = OLD."tenantId" AND c."userId" = OLD."userId" AND c."type" = 'totp');
    END IF;
    RETURN NULL;
END $$;
