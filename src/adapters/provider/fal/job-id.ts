/** The longest recorded ID. */
const MAX_JOB_ID = 255

const JOB_ID = /^(?:[\w-][\w.-]*\/){2,}requests\/[\w-]+$/

/** Namespaces of apps, which precede the owner in an address. */
const NAMESPACES = ['workflows', 'comfy']

/**
 * A job's ID: the path of its address, such as `fal-ai/flux-pro/requests/ID`. The path of a nested model is shorter
 * there than the model's ID. The host of the response is not used, since the key is sent along.
 */
export const jobIdOf = (answer: unknown, model: string, baseUrl?: string): string => {
  const { response_url, request_id } = (answer ?? {}) as Record<string, unknown>
  const jobId = pathOf(response_url, baseUrl) ?? defaultPath(request_id, model)
  if (jobId === undefined || jobId.length > MAX_JOB_ID || !JOB_ID.test(jobId))
    throw new Error('fal accepted a job without giving its ID')
  return jobId
}

/** The parts of a job's ID for the client library. */
export const namesOf = (jobId: string): { app: string; requestId: string } => {
  if (!JOB_ID.test(jobId)) throw new Error('this is not a job ID of fal')
  const at = jobId.lastIndexOf('/requests/')
  return { app: jobId.slice(0, at), requestId: jobId.slice(at + '/requests/'.length) }
}

const pathOf = (address: unknown, baseUrl: string | undefined): string | undefined => {
  if (typeof address !== 'string' || !URL.canParse(address)) return undefined
  const { pathname } = new URL(address)
  const prefix = `${baseUrl === undefined ? '' : new URL(baseUrl).pathname.replace(/\/$/, '')}/`
  const path = pathname.slice(pathname.startsWith(prefix) ? prefix.length : 1)
  // Some responses end the address of the result with a second `/response`.
  return /^.+\/requests\/[^/]+/.exec(path)?.[0]
}

const defaultPath = (requestId: unknown, model: string): string | undefined => {
  const parts = model.split('/')
  const app = parts.slice(0, NAMESPACES.includes(parts[0] ?? '') ? 3 : 2)
  return typeof requestId === 'string' ? `${app.join('/')}/requests/${requestId}` : undefined
}
