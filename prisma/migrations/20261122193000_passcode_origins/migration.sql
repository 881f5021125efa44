-- AlterTable
ALTER TABLE "AddressChange" ADD COLUMN     "isLong" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "Passcode" DROP CONSTRAINT "Passcode_pkey",
ADD COLUMN     "isLong" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "origin" TEXT COLLATE "C" NOT NULL DEFAULT '',
ADD CONSTRAINT "Passcode_pkey" PRIMARY KEY ("tenantId", "address", "origin");
