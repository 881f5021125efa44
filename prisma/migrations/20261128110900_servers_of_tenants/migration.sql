-- The mail server and the gateway for text messages of a tenant.
ALTER TABLE "Tenant"
  ADD COLUMN "mailServer" TEXT COLLATE "C",
  ADD COLUMN "mailServerUser" TEXT COLLATE "C",
  ADD COLUMN "mailServerPassword" TEXT COLLATE "C",
  ADD COLUMN "smsGatewayUrl" TEXT COLLATE "C",
  ADD COLUMN "smsGatewayToken" TEXT COLLATE "C",
  ADD COLUMN "mailFailingSince" TIMESTAMPTZ(3),
  ADD COLUMN "smsFailingSince" TIMESTAMPTZ(3);
