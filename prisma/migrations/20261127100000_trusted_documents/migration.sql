ALTER TABLE "Tenant" ADD COLUMN "acceptedDocuments" TEXT COLLATE "C" NOT NULL DEFAULT 'any';
ALTER TABLE "Client" ADD COLUMN "acceptedDocuments" TEXT COLLATE "C" NOT NULL DEFAULT 'any';

CREATE TABLE "TrustedDocument" (
    "tenantId" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "documentId" TEXT COLLATE "C" NOT NULL,
    "digest" TEXT COLLATE "C" NOT NULL,
    "text" TEXT COLLATE "C" NOT NULL,
    "bytes" INTEGER NOT NULL,
    "operationName" TEXT COLLATE "C",
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "TrustedDocument_pkey" PRIMARY KEY ("tenantId","id")
);
CREATE UNIQUE INDEX "TrustedDocument_documentId_key" ON "TrustedDocument"("tenantId", "clientId", "documentId");
CREATE INDEX "TrustedDocument_tenantId_clientId_id_idx" ON "TrustedDocument"("tenantId", "clientId", "id");
ALTER TABLE "TrustedDocument" ADD CONSTRAINT "TrustedDocument_tenantId_clientId_fkey" FOREIGN KEY ("tenantId", "clientId") REFERENCES "Client"("tenantId", "id") ON DELETE CASCADE ON UPDATE RESTRICT;
CREATE TRIGGER "TrustedDocument_tenant" BEFORE UPDATE OF "tenantId" ON "TrustedDocument" FOR EACH ROW EXECUTE FUNCTION refuse_tenant_change();

-- Processes cache the documents of a client. Documents are not changed.
CREATE TRIGGER "TrustedDocument_insert_trusted-documents" AFTER INSERT ON "TrustedDocument" REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION record_row_changes('trusted-documents', 'clientId');
CREATE TRIGGER "TrustedDocument_delete_trusted-documents" AFTER DELETE ON "TrustedDocument" REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION record_row_changes('trusted-documents', 'clientId');
