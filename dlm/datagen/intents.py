"""Intents of the utterance corpora that ask for no tool of ours: talk, and what cannot be done."""

from __future__ import annotations

TOPICS: dict[str, str] = {
    "thank_you": "thanks", "general_praise": "thanks", "goodbye": "bye", "greeting": "hello",
    "general_greet": "hello", "what_is_your_name": "who", "are_you_a_bot": "who",
    "WhoAreYou": "who", "WhatAreYou": "who", "repeat": "repeat", "general_repeat": "repeat",
    "cancel": "no", "HassNevermind": "no", "general_dontcare": "no",
}  # fmt: skip
"""Intents that are talk."""

UNFIT = frozenset([
    "oos", "translate", "transfer", "insurance_change", "travel_alert", "pto_request",
    "improve_credit_score", "change_language", "payday", "replacement_card_duration",
    "application_status", "flight_status", "oil_change_how", "restaurant_reservation",
    "confirm_reservation", "rollover_401k", "transactions", "restaurant_suggestion",
    "rewards_balance", "pay_bill", "spending_history", "pto_request_status", "oil_change_when",
    "travel_suggestion", "tire_pressure", "apr", "nutrition_info", "uber", "schedule_maintenance",
    "travel_notification", "roll_dice", "food_last", "cook_time", "make_call", "w2", "bill_due",
    "calories", "routing", "plug_type", "tire_change", "credit_limit", "how_busy", "pin_change",
    "account_blocked", "international_fees", "schedule_meeting", "ingredients_list", "report_fraud",
    "book_hotel", "taxes", "min_payment", "international_visa", "vaccines", "pto_balance",
    "direct_deposit", "interest_rate", "credit_limit_change", "book_flight", "text", "bill_balance",
    "share_location", "redeem_rewards", "play_music", "gas", "expiration_date", "update_playlist",
    "cancel_reservation", "change_ai_name", "car_rental", "jump_start", "recipe", "income", "order",
    "card_declined", "balance", "credit_score", "new_card", "lost_luggage", "mpg", "insurance",
    "sync_device", "report_lost_card", "ingredient_substitution", "change_accent",
    "restaurant_reviews", "gas_type", "accept_reservations", "order_status", "last_maintenance",
    "whisper_mode", "reset_settings", "meal_suggestion", "traffic", "find_phone", "flip_coin",
    "freeze_account", "pto_used", "current_location", "directions", "order_checks", "next_song",
    "damaged_card", "what_song", "transport_traffic", "transport_query", "play_radio",
    "recommendation_locations", "social_post", "takeaway_order", "email_query",
    "email_querycontact", "cooking_recipe", "play_game", "music_query", "transport_ticket",
    "play_audiobook", "recommendation_events", "email_sendemail", "play_podcasts", "takeaway_query",
    "social_query", "transport_taxi", "recommendation_movies", "email_addcontact", "music_likeness",
    "news_query", "audio_volume_up", "audio_volume_mute", "PlayMusic", "BookRestaurant",
    "AddToPlaylist", "RateBook", "SearchScreeningEvent",
])  # fmt: skip
"""Intents that no tool of ours serves."""
