-- AlterTable
ALTER TABLE "Tenant" ADD COLUMN     "mailReplyTo" TEXT COLLATE "C",
ADD COLUMN     "mailSenderAddress" TEXT COLLATE "C",
ADD COLUMN     "mailSenderName" TEXT COLLATE "C";
