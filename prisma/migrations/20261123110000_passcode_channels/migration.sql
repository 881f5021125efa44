-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "passcodeChannels" TEXT[] DEFAULT ARRAY['email', 'sms']::TEXT[],
ADD COLUMN     "phoneCountry" TEXT COLLATE "C";
