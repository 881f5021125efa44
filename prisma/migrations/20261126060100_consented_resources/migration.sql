-- AlterTable
ALTER TABLE "Consent" ADD COLUMN     "resources" TEXT[] DEFAULT ARRAY[]::TEXT[];
