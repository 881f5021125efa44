-- AlterTable
ALTER TABLE "IdentityProvider" ADD COLUMN     "trustAcr" JSONB,
ADD COLUMN     "trustAmr" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[];
