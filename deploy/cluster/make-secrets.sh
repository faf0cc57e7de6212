#!/bin/sh
# make-secrets.sh FOLDER: makes the secrets of docker-compose.yml in the folder of each server. A second call changes
# nothing.
set -eu
umask 077
folder=$1
[ ! -e "$folder/tollgate/complete" ] || exit 0

secret() { openssl rand -hex 32; }

# EventStoreDB's certificate, and an authority that signs nothing else: its key is thrown away.
days=3650
work=$(mktemp -d)
openssl req -x509 -newkey rsa:2048 -nodes -days $days -subj '/CN=Tollgate cluster' \
  -addext 'keyUsage=critical,keyCertSign,cRLSign' -keyout "$work/ca.key" -out "$work/ca.crt" 2>/dev/null
openssl req -newkey rsa:2048 -nodes -subj '/CN=eventstoredb-node' \
  -keyout "$folder/eventstore/node.key" -out "$work/node.csr" 2>/dev/null
cat >"$work/extensions" <<'EXTENSIONS'
subjectAltName = DNS:eventstore, DNS:localhost, IP:127.0.0.1
extendedKeyUsage = serverAuth, clientAuth
keyUsage = digitalSignature, keyEncipherment
basicConstraints = CA:FALSE
EXTENSIONS
openssl x509 -req -in "$work/node.csr" -CA "$work/ca.crt" -CAkey "$work/ca.key" -CAcreateserial -days $days \
  -extfile "$work/extensions" -out "$folder/eventstore/node.crt" 2>/dev/null
mkdir -p "$folder/eventstore/ca"
cp "$work/ca.crt" "$folder/eventstore/ca/ca.crt"
cp "$work/ca.crt" "$folder/tollgate/ca.crt"
rm -r "$work"

admin=$(secret)
printf 'EVENTSTORE_DEFAULT_ADMIN_PASSWORD=%s\nEVENTSTORE_DEFAULT_OPS_PASSWORD=%s\n' "$admin" "$(secret)" \
  >"$folder/eventstore/passwords"
printf 'esdb://admin:%s@eventstore:2113?tlsCAFile=%s' "$admin" /secrets/ca.crt >"$folder/tollgate/event-store-url"

# The views can be rebuilt, so nothing is written to disk. But Redis must not evict a part of them.
redis=$(secret)
printf 'requirepass %s\nsave ""\nappendonly no\nmaxmemory 1gb\nmaxmemory-policy noeviction\n' "$redis" \
  >"$folder/redis/redis.conf"
printf '%s' "$redis" >"$folder/redis/password"
printf 'redis://:%s@redis:6379' "$redis" >"$folder/tollgate/view-store-url"

minio=$(secret)
printf 'MINIO_ROOT_USER=tollgate\nMINIO_ROOT_PASSWORD=%s\n' "$minio" >"$folder/minio/server"
printf 'MC_HOST_store=http://tollgate:%s@minio:9000\n' "$minio" >"$folder/minio/client"
printf 's3://tollgate:%s@minio:9000/tollgate?tls=off' "$minio" >"$folder/tollgate/object-store-url"

secret >"$folder/tollgate/master-secret"
openssl genpkey -algorithm ed25519 -out "$folder/tollgate/seal-key.pem"

touch "$folder/tollgate/complete"
