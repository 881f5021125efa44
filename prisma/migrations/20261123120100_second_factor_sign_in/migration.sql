-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "secondFactor" TEXT COLLATE "C" NOT NULL DEFAULT 'if-enrolled';

-- AlterTable
ALTER TABLE "User" ADD COLUMN     "hasSecondFactor" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "SecondFactorGuess" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "count" INTEGER NOT NULL DEFAULT 0,
    "windowAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "SecondFactorGuess_pkey" PRIMARY KEY ("tenantId","userId")
);

-- AddForeignKey
ALTER TABLE "SecondFactorGuess" ADD CONSTRAINT "SecondFactorGuess_tenantId_userId_fkey" FOREIGN KEY ("tenantId", "userId") REFERENCES "User"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- The user's own row tells whether the user has an authenticator app, so that a sign-in reads no other table.
CREATE OR REPLACE FUNCTION keep_has_credential() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE "User" SET "hasCredential" = TRUE WHERE "tenantId" = NEW."tenantId" AND "id" = NEW."userId" AND NOT "hasCredential";
        UPDATE "User" SET "hasSecondFactor" = TRUE WHERE NEW."type" = 'totp' AND "tenantId" = NEW."tenantId" AND "id" = NEW."userId"
            AND NOT "hasSecondFactor";
    ELSE
        UPDATE "User" u SET "hasCredential" = FALSE WHERE u."tenantId" = OLD."tenantId" AND u."id" = OLD."userId" AND u."hasCredential"
            AND NOT EXISTS (SELECT FROM "Credential" c WHERE c."tenantId" = OLD."tenantId" AND c."userId" = OLD."userId");
        UPDATE "User" u SET "hasSecondFactor" = FALSE WHERE OLD."type" = 'totp' AND u."tenantId" = OLD."tenantId" AND u."id" = OLD."userId"
            AND u."hasSecondFactor" AND NOT EXISTS (
                SELECT FROM "Credential" c WHERE c."tenantId" = OLD."tenantId" AND c."userId" = OLD."userId" AND c."type" = 'totp');
    END IF;
    RETURN NULL;
END $$;

UPDATE "User" u SET "hasSecondFactor" = TRUE WHERE EXISTS (
    SELECT FROM "Credential" c WHERE c."tenantId" = u."tenantId" AND c."userId" = u."id" AND c."type" = 'totp');

CREATE TRIGGER "SecondFactorGuess_tenant" BEFORE UPDATE OF "tenantId" ON "SecondFactorGuess" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();
