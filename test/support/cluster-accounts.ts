import type { Core } from '../../src/boot/core.ts'
import type { Cluster } from './cluster.ts'
import { type AccountOptions, type Customer, openAccount, openFolder } from './service.ts'

/** Opens a cluster's stores beside its services, runs the work, and closes them. */
export const withStores = async <Result>(
  { folder, env }: Pick<Cluster, 'folder' | 'env'>,
  work: (core: Core) => Promise<Result>,
): Promise<Result> => {
  const core = await openFolder(folder, { environment: env })
  try {
    return await work(core)
  } finally {
    await core.close()
  }
}

/** Opens accounts with a key each. Callers set the base URL of the clients. */
export const openClusterAccounts = <Many extends AccountOptions[]>(
  cluster: Pick<Cluster, 'folder' | 'env'>,
  ...options: Many
): Promise<{ [Index in keyof Many]: Customer }> =>
  withStores(cluster, async core => {
    const opened = await Promise.all(options.map(each => openAccount({ core, url: 'http://localhost' }, each)))
    return opened as { [Index in keyof Many]: Customer }
  })
