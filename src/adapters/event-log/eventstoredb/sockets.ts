import type { Socket } from 'node:net'
import { ChannelCredentials } from '@grpc/grpc-js'

type Connector = ReturnType<ChannelCredentials['_createSecureConnector']>

/**
 * Credentials that track their sockets, so that these can be destroyed. A gRPC channel needs its peer to close a
 * connection, so a connection to a hung server would stay open forever.
 */
export class TrackedCredentials extends ChannelCredentials {
  readonly #inner: ChannelCredentials
  readonly #sockets = new Set<Socket>()

  constructor(inner: ChannelCredentials) {
    super()
    this.#inner = inner
  }

  destroySockets() {
    for (const socket of this.#sockets) socket.destroy()
  }

  override compose(...given: Parameters<ChannelCredentials['compose']>): ChannelCredentials {
    return this.#inner.compose(...given)
  }

  override _isSecure(): boolean {
    return this.#inner._isSecure()
  }

  override _equals(other: ChannelCredentials): boolean {
    return other === this
  }

  override _createSecureConnector(...given: Parameters<ChannelCredentials['_createSecureConnector']>): Connector {
    const inner = this.#inner._createSecureConnector(...given)
    return {
      connect: socket => {
        this.#sockets.add(socket)
        socket.once('close', () => this.#sockets.delete(socket))
        return inner.connect(socket)
      },
      waitForReady: () => inner.waitForReady(),
      getCallCredentials: () => inner.getCallCredentials(),
      destroy: () => inner.destroy(),
    }
  }
}
