-- AlterTable
-- Clients that exist keep their origins.
ALTER TABLE "Client" ADD COLUMN     "hasDefaultOrigins" BOOLEAN NOT NULL DEFAULT false;
