-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "defaultScopes" TEXT[] DEFAULT ARRAY[]::TEXT[];
