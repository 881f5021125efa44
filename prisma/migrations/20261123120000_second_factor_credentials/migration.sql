-- AlterTable
ALTER TABLE "Credential" ADD COLUMN     "codeHashes" BYTEA[] DEFAULT ARRAY[]::BYTEA[],
ADD COLUMN     "lastStep" BIGINT,
ADD COLUMN     "secret" TEXT COLLATE "C",
ALTER COLUMN "externalId" DROP NOT NULL;

-- A user has one authenticator app and one set of recovery codes.
CREATE UNIQUE INDEX "Credential_second_factor_key" ON "Credential"("tenantId", "userId", "type") WHERE (type <> 'public-key');
