-- AlterTable
ALTER TABLE "Invitation" ADD COLUMN     "invitedBy" TEXT COLLATE "C",
ADD COLUMN     "organizationId" TEXT COLLATE "C";

-- CreateIndex
CREATE INDEX "Invitation_tenantId_organizationId_idx" ON "Invitation"("tenantId", "organizationId") WHERE ("organizationId" IS NOT NULL);

-- AddForeignKey
ALTER TABLE "Invitation" ADD CONSTRAINT "Invitation_tenantId_organizationId_fkey" FOREIGN KEY ("tenantId", "organizationId") REFERENCES "Organization"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;
