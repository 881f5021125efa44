-- AlterTable
ALTER TABLE "AddressChange" ADD COLUMN     "budget" TEXT COLLATE "C" NOT NULL DEFAULT '';
