-- $1 tenant
-- $2 email
INSERT INTO atlasqueue.tenants (tenant, email) VALUES ($1, $2) ON CONFLICT (tenant) DO NOTHING RETURNING tenant;
