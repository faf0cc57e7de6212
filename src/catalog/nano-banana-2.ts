import type { Family } from '../../schemas/catalog.ts'
import { credits, factors, usd } from './helpers.ts'

/** Google's Gemini 3.1 Flash Image. Parameters follow the vendor's documentation of image generation. */
export const nanoBanana2: Family = {
  id: 'nano-banana-2',
  aliases: ['nano'],
  name: 'Nano Banana 2',
  outputType: 'image',
  endpoints: [
    {
      id: 'nano-banana-2-t2i',
      kind: 't2i',
      mode: 'sync',
      status: 'public',
      description: 'Makes pictures from a text, in 14 aspect ratios and up to 4K.',
      provider: 'sandbox',
      timeoutMs: 120_000,
      parametersSchema: {
        type: 'object',
        properties: {
          prompt: {
            type: 'string',
            title: 'Prompt',
            description: 'What the picture shows.',
            minLength: 1,
            maxLength: 20_000,
          },
          num_images: {
            type: 'integer',
            title: 'Number of images',
            description: 'How many pictures to make. Each is charged.',
            minimum: 1,
            maximum: 4,
            default: 1,
          },
          resolution: {
            type: 'string',
            title: 'Resolution',
            description: 'The size of the picture: about 1, 4 or 16 megapixels.',
            enum: ['1K', '2K', '4K'],
            default: '1K',
          },
          aspect_ratio: {
            type: 'string',
            title: 'Aspect ratio',
            description: 'Width to height. With auto the model chooses from the prompt.',
            enum: [
              ...['auto', '1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '4:5', '5:4', '21:9'],
              ...['4:1', '1:4', '8:1', '1:8'],
            ],
            default: 'auto',
          },
          output_format: {
            type: 'string',
            title: 'Output format',
            description: 'The format of the picture file.',
            enum: ['png', 'jpeg', 'webp'],
            default: 'png',
          },
          enable_web_search: {
            type: 'boolean',
            title: 'Web search',
            description: 'Lets the model use current information from the internet, for a surcharge.',
            default: false,
          },
          thinking_level: {
            type: 'string',
            title: 'Thinking level',
            description: 'Lets the model think first. Without it, thinking is off.',
            enum: ['minimal', 'high'],
          },
          safety_tolerance: {
            title: 'Safety tolerance',
            description: 'How much the moderation lets through, from 1, the strictest, to 6.',
            enum: ['1', '2', '3', '4', '5', '6', 1, 2, 3, 4, 5, 6],
            default: '4',
          },
          seed: {
            type: 'integer',
            title: 'Seed',
            description: 'The same seed and input give the same picture.',
            minimum: 0,
            maximum: 2_147_483_647,
          },
        },
        required: ['prompt'],
        additionalProperties: false,
      },
      pricing: {
        baseMicros: credits(10),
        quantities: ['num_images'],
        multipliers: { resolution: factors({ '1K': 1, '2K': 1.5, '4K': 2 }) },
        surcharges: [{ when: { parameter: 'enable_web_search', equals: true }, usdMicros: usd(0.015) }],
      },
    },
  ],
}
