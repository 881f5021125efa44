-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "openRegistration" BOOLEAN NOT NULL DEFAULT false;

-- DropIndex
DROP INDEX "Client_document_idx";

-- CreateIndex
CREATE INDEX "Client_unreviewed_idx" ON "Client"("documentFreshUntil") WHERE ("documentFreshUntil" IS NOT NULL);
