import type { Bound } from '../../src/services/providers/routes.ts'

/** The parameters of the families that tests publish. */
const NAMES = ['prompt', 'image_url', 'num_images', 'workMs', 'result', 'faults']

/** Binds every endpoint to a provider that takes the parameters of test families as they are. */
export const boundTo =
  (provider: string) =>
  (endpoint: string): Bound[] => [
    { endpoint, provider, model: 'test', operation: 'run', parameters: NAMES.map(name => ({ from: name, to: name })) },
  ]
