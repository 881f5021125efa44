-- AlterTable
ALTER TABLE "EnrollmentToken" ADD COLUMN     "cancelHash" BYTEA,
ADD COLUMN     "usableAt" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "recoveryWaitingTime" INTEGER NOT NULL DEFAULT 0;
