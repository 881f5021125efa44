-- AlterTable
ALTER TABLE "Client" ADD COLUMN     "idTokenClaims" BOOLEAN NOT NULL DEFAULT false;
