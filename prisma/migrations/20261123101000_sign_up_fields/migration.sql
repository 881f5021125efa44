-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "signUpFields" JSONB NOT NULL DEFAULT '[{"field": "name", "required": true, "label": null, "schema": null}]',
ADD COLUMN     "termsUrl" TEXT COLLATE "C",
ADD COLUMN     "termsVersion" TEXT COLLATE "C",
ADD COLUMN     "privacyUrl" TEXT COLLATE "C";

-- AlterTable
ALTER TABLE "User" ADD COLUMN     "termsAcceptedAt" TIMESTAMPTZ(3),
ADD COLUMN     "termsVersion" TEXT COLLATE "C";
