import { readFileSync } from 'node:fs'
import { Channel, type ChannelOptions, credentials, Metadata } from '@grpc/grpc-js'
import { type Endpoint, type EventStoreAddress, showEndpoint } from './address.ts'
import type { AppendOptions } from './appends.ts'
import { Node } from './node.ts'
import { TrackedCredentials } from './sockets.ts'

const OPTIONS: ChannelOptions = {
  // Each channel has its own connection, so that a hung one can be abandoned.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  // Callers decide whether to retry a request.
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  // The server stores events of up to 16 MB.
  'grpc.max_receive_message_length': 17 * 1024 * 1024,
}

/** Returns a function that connects to a server of this address. Reads the certificate files. */
export const dialer = (address: EventStoreAddress, appendOptions: AppendOptions): ((endpoint: Endpoint) => Node) => {
  const { tls, keepAlive } = address
  const read = (file: string | undefined) => (file === undefined ? null : readFileSync(file))
  const security = tls
    ? credentials.createSsl(read(tls.caFile), read(tls.keyFile), read(tls.certFile))
    : credentials.createInsecure()
  const options: ChannelOptions = {
    ...OPTIONS,
    'grpc.keepalive_time_ms': keepAlive.intervalMs,
    'grpc.keepalive_timeout_ms': keepAlive.timeoutMs,
  }
  const metadata = toMetadata(address)
  return endpoint => {
    const { name } = endpoint
    const named = name === undefined ? {} : { 'grpc.ssl_target_name_override': name, 'grpc.default_authority': name }
    const tracked = new TrackedCredentials(security)
    const channel = new Channel(`dns:${showEndpoint(endpoint)}`, tracked, { ...options, ...named })
    const close = () => {
      channel.close()
      tracked.destroySockets()
    }
    return new Node(endpoint, { channel, metadata, close }, appendOptions)
  }
}

/** Sent with every request. */
const toMetadata = ({ tls, credentials: login, connectionName }: EventStoreAddress): Metadata => {
  const metadata = new Metadata()
  metadata.set('requires-leader', 'true')
  if (connectionName !== undefined) metadata.set('connection-name', connectionName)
  // Never send a password in the clear; a server without TLS requires none.
  if (login && tls)
    metadata.set('authorization', `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`)
  return metadata
}
