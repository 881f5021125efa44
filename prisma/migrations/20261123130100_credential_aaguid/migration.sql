-- AlterTable
ALTER TABLE "Credential" ADD COLUMN     "aaguid" TEXT COLLATE "C";
