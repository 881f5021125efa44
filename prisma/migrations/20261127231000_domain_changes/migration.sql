-- What a process caches of a tenant says whether domains enroll.
CREATE TRIGGER "OrganizationDomain_insert_tenant" AFTER INSERT ON "OrganizationDomain" REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION record_row_changes('tenant');
CREATE TRIGGER "OrganizationDomain_update_tenant" AFTER UPDATE ON "OrganizationDomain" REFERENCING NEW TABLE AS changed OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION record_row_changes('tenant');
CREATE TRIGGER "OrganizationDomain_delete_tenant" AFTER DELETE ON "OrganizationDomain" REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION record_row_changes('tenant');
