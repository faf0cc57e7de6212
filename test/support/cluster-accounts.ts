import type { Core } from '../../src/boot/core.ts'
import type { Cluster } from './cluster.ts'
import { type AccountOptions, type Customer, openAccount, openFolder } from './service.ts'

/** Opens the stores of a cluster beside its services, does the work, and closes them. */
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

/** Opens accounts with a key each. Their clients are still to be told at which service they ask. */
export const openClusterAccounts = <Many extends AccountOptions[]>(
  cluster: Pick<Cluster, 'folder' | 'env'>,
  ...options: Many
): Promise<{ [Index in keyof Many]: Customer }> =>
  withStores(cluster, async core => {
    const opened = await Promise.all(options.map(each => openAccount({ core, url: 'http://localhost' }, each)))
    return opened as { [Index in keyof Many]: Customer }
  })
