/** Models that need only a prompt, ordered by suitability for a first run. */
export const FIRST_MODELS = ['nano-banana-2', 'gpt-image-2-6', 'z-image-turbo', 'gpt-6-1-terra', 'claude-haiku-4-5']

/** The most suitable of these models for a first run. */
export const firstModel = (models: readonly string[]): string =>
  FIRST_MODELS.find(each => models.includes(each)) ?? models[0] ?? (FIRST_MODELS[0] as string)

/**
 * The body of a first run. The most suitable model gets more parameters, with which the sandbox makes
 * docs/first-picture.jpg.
 */
export const firstRun = (model: string): string => {
  const more = model === FIRST_MODELS[0] ? ', "aspect_ratio": "16:9", "output_format": "jpeg", "seed": 7' : ''
  return `{"model": "${model}", "input": {"prompt": "A quiet mountain lake at sunrise"${more}}}`
}

/** The lines of a `curl` command that runs a model. `apiKey` may be a shell variable. */
export const curlRun = (url: string, apiKey: string, run: string, ...headers: string[]): string[] => [
  `curl -s '${url}' \\`,
  `  -H "Authorization: Bearer ${apiKey}" \\`,
  ...['Content-Type: application/json', ...headers].map(header => `  -H '${header}' \\`),
  `  -d '${run}'`,
]

/** The lines of a `curl` command for a GET request. */
export const curlRead = (url: string, apiKey: string): string[] => [
  `curl -s '${url}' \\`,
  `  -H "Authorization: Bearer ${apiKey}"`,
]
