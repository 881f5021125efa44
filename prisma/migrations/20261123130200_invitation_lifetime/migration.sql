-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "invitationLifetimeSeconds" INTEGER NOT NULL DEFAULT 259200;
