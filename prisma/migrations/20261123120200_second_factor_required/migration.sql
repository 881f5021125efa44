-- AlterTable
ALTER TABLE "Client" ADD COLUMN     "requireSecondFactor" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "secondFactorRoles" TEXT[] DEFAULT ARRAY[]::TEXT[];
